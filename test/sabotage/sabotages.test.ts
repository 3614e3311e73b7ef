/** Each sabotage can be applied, and what a test file prints is judged correctly. `npm run sabotage` tries them out. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { filesOf } from "#test/support/runPlan.ts"
import { border } from "./border.ts"
import { dispatch } from "./dispatch.ts"
import { faultOf, matching, missedBecause, type Sabotage } from "./Sabotage.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const all = [...dispatch, ...border]
/** The stories take too long. */
const tests = new Set(
  filesOf(
    "tests",
    all.map(({ caughtBy }) => caughtBy)
  )
)

t.test("given the sabotages, then each changes one place, breaks a rule of its own, and has a test file", async (t) => {
  const faults = all.flatMap((sabotage) => faultOf(readFileSync(join(root, sabotage.file), "utf8"), sabotage) ?? [])
  t.strictSame(faults, [])
  t.equal(new Set(all.map(({ rule }) => rule)).size, all.length, "no two have the same rule")
  const missing = all.filter(({ caughtBy }) => !tests.has(caughtBy) || !existsSync(join(root, caughtBy)))
  t.strictSame(missing, [])
})

const sabotage: Sabotage = { caughtBy: "", file: "a.ts", replacement: "return 2", rule: "It is one.", text: "return 1" }

t.test("given a source, then a sabotage can be applied if its text is there once, and the result can be parsed", async (t) => {
  const check = (source: string, part: Partial<Sabotage>, expected: RegExp | undefined) => {
    const fault = faultOf(source, { ...sabotage, ...part })
    if (expected === undefined) t.equal(fault, undefined)
    else t.match(fault, expected)
  }
  const once = "const one = (): number => { return 1 }"
  check(once, {}, undefined)
  check(`${once}; ${once}`, {}, /contains the text 2 times/)
  check("const two = 2", {}, /contains the text 0 times/)
  check(once, { text: "" }, /contains the text 0 times/)
  check(once, { replacement: "return 1" }, /would not change/)
  check(once, { replacement: "return (" }, /could not be parsed/)
  check("SELECT 1 AS return 1", { file: "a.sql" }, undefined)
})

t.test("given a pattern, then it selects by rule and by file, in any case", async (t) => {
  const names = (pattern: string) =>
    matching([sabotage, { ...sabotage, file: "b.ts", rule: "It is two." }], pattern).map(({ file }) => file)
  t.strictSame([names(""), names("TWO"), names("^a[.]"), names("three")], [["a.ts", "b.ts"], ["b.ts"], ["a.ts"], []])
})

const passed = "TAP version 14\n# Subtest: given one\n    ok 1 - is one\n    1..1\nok 1 - given one # time=3.2ms\n\n1..1\n# time=5ms\n"
const failed = (title: string, ...details: ReadonlyArray<string>) =>
  [`    not ok 1 - ${title}`, "      ---", ...details.map((line) => `      ${line}`), "      ...", "    ", ""].join("\n")
const unequal = failed("is one", "compare: ===", "diff: |", "  -1", "  +2")
const thrown = failed("no such column", "stack: |", "  read (a.ts:1:2)", "tapCaught: returnedPromiseRejection")
const property = (message: string) =>
  failed("Property failed after 1 tests", "tapCaught: returnedPromiseRejection", "cause:", `  message: ${message}`)
const within = (...lines: ReadonlyArray<string>) =>
  `# Subtest: given one\n${lines.join("")}    1..1\nnot ok 1 - given one # time=3.2ms\n\n1..1\n`

t.test("given how a test file ended, then it has caught the sabotage only if an assertion failed", async (t) => {
  const check = (output: string, expected: RegExp | undefined, code: number | undefined = 1, isExpired = false) => {
    const why = missedBecause({ code, isExpired, output })
    if (expected === undefined) t.equal(why, undefined)
    else t.match(why, expected)
  }
  check(passed, /all its tests passed/, 0)
  check(within(unequal), undefined)
  check(within("    not ok 1 - is one\n"), undefined)
  check(within(unequal, thrown), undefined)
  check(within(thrown, unequal), undefined)
  check(within(thrown), /only the code itself: no such column/)
  check(within(property("Property failed by returning false")), undefined)
  check(within(property("no such column")), /only the code itself: Property failed/)
  check("not ok 1 - timeout!\n  ---\n  signal: SIGTERM\n  ...\n1..1\n", /timeout!/)
  check("file:///a.ts:3\nSyntaxError: Unexpected token\n", /only the code itself: SyntaxError: Unexpected token/)
  check("", /its process ended/, 3)
  check(within(unequal), /hung/, undefined, true)
})
