/**
 * Formats the output of `npm test`: a line for each file, each failure in full, each skipped test with its reason, and at the end the failures
 * in short form and `N passed, N failed`. Reads TAP from standard input.
 */
import { createInterface } from "node:readline"

const indentOf = (line: string): number => line.length - line.trimStart().length
const print = (line: string) => process.stdout.write(`${line}\n`)
/** The lines of each failure, and characters per line, that are repeated at the end, which is all that some readers of a log see: what differs. */
const [shortLines, shortLength] = [16, 240]
const failures: Array<Array<string>> = []
/** The parts of a failure's details that its short form leaves out: where it happened. */
const isPlace = /^(at|stack|source|jobId|tapCaller|buffered):|^(---|\.\.\.)$/
let isLeftOut = false
const printDetail = (line: string) => {
  print(`    ${line}`)
  if (/^\S/.test(line)) isLeftOut = isPlace.test(line)
  if (!isLeftOut) failures.at(-1)?.push(`    ${line.slice(0, shortLength)}`)
}

/** The names of the enclosing tests, by depth. */
let path: Array<string> = []
/** The depth of the last failure. The test around it failed for the same reason. */
let failedDepth = -1
let failedInFile = false
let diagnosticsIndent: number | undefined
let files = 0
let counts: { readonly pass: number; readonly fail: number; readonly skip: number } | undefined

const count = (line: string, name: string): number => Number(new RegExp(`${name}: (\\d+)`).exec(line)?.[1] ?? 0)

const result = (line: string) => {
  const depth = indentOf(line) / 4
  const [, not, title = "", directive] = /^ *(not )?ok \d+(?: - (.*?))?(?: \{)?(?: # (.*))?$/.exec(line) ?? []
  const name = [...path.slice(0, depth), title].join(" > ")
  const skipped = directive?.startsWith("SKIP") === true
  if (skipped) print(`  - skipped: ${name}: ${directive?.slice("SKIP ".length)}`)
  if (depth === 0) {
    files++
    print(`${not === undefined ? "ok  " : "FAIL"}  ${title}  ${directive ?? ""}`)
  }
  if (not !== undefined && !skipped && (depth === 0 ? !failedInFile : failedDepth <= depth)) {
    print(`  x ${name}`)
    failures.push([`  x ${name}`])
    diagnosticsIndent = indentOf(line) + 2
  }
  failedDepth = not === undefined ? -1 : depth
  failedInFile = depth > 0 && (failedInFile || not !== undefined)
}

for await (const line of createInterface({ input: process.stdin })) {
  const indent = indentOf(line)
  if (diagnosticsIndent !== undefined && indent >= diagnosticsIndent) {
    printDetail(line.slice(diagnosticsIndent))
    continue
  }
  diagnosticsIndent = undefined
  if (/^ *# Subtest: /.test(line)) path = [...path.slice(0, indent / 4), line.slice(indent + "# Subtest: ".length)]
  else if (/^ *(not )?ok \d+/.test(line)) result(line)
  else if (line.startsWith("Bail out!")) print(line)
  else if (line.startsWith("# { total:")) counts = { pass: count(line, "pass"), fail: count(line, "fail"), skip: count(line, "skip") }
}
if (failures.length > 0) print("\nThe failures in short:")
for (const failure of failures) for (const line of failure.slice(0, shortLines)) print(line)
if (counts === undefined) print("The tests ended without a summary.")
if (counts !== undefined && counts.skip > 0) print(`${counts.skip} skipped`)
print(`${counts?.pass ?? 0} passed, ${counts?.fail ?? Math.max(1, files)} failed`)
