/**
 * `runtime/builtProgram.js`: what a program has compiled by the time it is ready is cached for its next start, and never used for anything
 * else.
 */
import { execFile } from "node:child_process"
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t, { type Test } from "tap"
import { ensureBuilt } from "#runtime/build.js"
import { programOf } from "#test/support/builtPrograms.ts"
import { npmStart } from "#test/support/npmStart.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { until } from "#test/support/until.ts"

const runner = fileURLToPath(new URL("../../runtime/builtProgram.js", import.meta.url))
const startMillis = 600_000
/** Occurs only in a function that runs after the program has loaded. */
const saidLate = "said by a function that was compiled when it was called"
const source = (word: string) => `export const get = () => ["${word}", "${saidLate}"].join(" ")`

/** The path of the build of a program. */
const built = (t: Test, text: string): string => {
  const file = ensureBuilt(programOf(t, { "main.ts": text }).own)
  if (file === undefined) throw new Error("not built")
  return file
}

/** What the program prints in a process of its own, which then runs `after`. */
const run = async (file: string, { after = "keepCode()", flags = [] as ReadonlyArray<string> } = {}): Promise<string> => {
  const script = `
    import { rmSync } from "node:fs"
    import { keepCode, runBuilt } from ${JSON.stringify(runner)}
    const { get } = runBuilt(${JSON.stringify(file)})
    console.log(get())
    ${after}`
  // Without tap's environment, which makes every Node process report its coverage.
  const options = { env: {}, timeout: startMillis }
  const { stderr, stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", script], options)
  return stdout.trim() + stderr
}

/** Everything that is stored beside the build of a program, except the workers. */
const keptBeside = (file: string): ReadonlyArray<string> =>
  readdirSync(dirname(file))
    .map((name) => join(dirname(file), name))
    .filter((path) => path.startsWith(`${file}.`))

const onlyKept = (file: string): string => {
  const [kept, ...others] = keptBeside(file)
  if (kept === undefined || others.length > 0) throw new Error(`${keptBeside(file).length} kept`)
  return kept
}
/** Changes whenever the file is written. */
const fileOf = (path: string): number => statSync(path).ino

t.test("given a build that has never run", async (t) => {
  const file = built(t, source("one"))
  t.equal(await run(file, { after: "" }), `one ${saidLate}`)
  t.strictSame(keptBeside(file), [], "when it exits before it is ready, then nothing is kept")
  await run(file)
  const kept = onlyKept(file)
  t.ok(readFileSync(kept).includes(saidLate), "when it is ready, then what has run by then is kept")
  const first = fileOf(kept)
  t.equal(await run(file), `one ${saidLate}`)
  t.equal(fileOf(kept), first, "when it is started again, then nothing is written, because the kept code runs")
})

t.test("given kept code that is damaged", async (t) => {
  const file = built(t, source("one"))
  await run(file)
  const kept = onlyKept(file)
  const intact = readFileSync(kept)
  const flipped = (at: number) => Buffer.from(intact.map((byte, index) => (index === at ? byte ^ 0xff : byte)))
  const damaged = [
    Buffer.alloc(0),
    intact.subarray(0, 3),
    intact.subarray(0, 4),
    intact.subarray(0, intact.length / 2),
    Buffer.alloc(intact.length),
    Buffer.concat([intact, intact]),
    flipped(0),
    flipped(5),
    flipped(Math.floor(intact.length / 2)),
    flipped(intact.length - 1)
  ]
  for (const content of damaged) {
    writeFileSync(kept, content)
    t.equal(await run(file), `one ${saidLate}`, "when the build is started, then it runs")
    const mended = fileOf(kept)
    await run(file)
    t.equal(fileOf(kept), mended, "and keeps intact code for the next start")
  }
})

t.test("given two builds of the same length, when one finds the code of the other, then it runs its own", async (t) => {
  const [one, two] = [built(t, source("one")), built(t, source("two"))]
  await Promise.all([run(one), run(two)])
  writeFileSync(onlyKept(two), readFileSync(onlyKept(one)))
  t.equal(readFileSync(one).length, readFileSync(two).length)
  t.equal(await run(two), `two ${saidLate}`)
})

t.test("given a program that sometimes runs with V8 flags, when both variants have kept their code, then both start with it", async (t) => {
  const file = built(t, source("one"))
  await run(file)
  await run(file, { flags: ["--no-opt"] })
  const kept = keptBeside(file)
  t.equal(kept.length, 2)
  const first = kept.map(fileOf)
  await run(file)
  await run(file, { flags: ["--no-opt"] })
  t.strictSame(kept.map(fileOf), first)
})

t.test("given many first starts at once, when each keeps its code, then all run, and nothing else is left", async (t) => {
  const file = built(t, source("one"))
  const said = await Promise.all([run(file), run(file), run(file), run(file)])
  t.strictSame(said, Array(4).fill(`one ${saidLate}`))
  onlyKept(file)
})

t.test("given a folder that cannot be written, when a program tries to keep its code, then it continues silently", async (t) => {
  const removed = built(t, source("one"))
  const after = `rmSync(${JSON.stringify(dirname(removed))}, { recursive: true }); keepCode(); console.log("and on")`
  t.equal(await run(removed, { after }), `one ${saidLate}\nand on`)
})

t.test("given a program with text that is not ASCII, when it is built, then the text is unchanged", async (t) => {
  const text = String.raw`
    const quotes = /[–’]\é\\?ü/
    const ä = ["–é\\ü", "’éü", "’éu", "\–é\\\ü", ${"`😀 é`"}].map((word) => [word, quotes.test(word), /^\p{L}|[😀]/u.test(word)])
    export const get = () => JSON.stringify(ä)`
  t.equal(
    await run(built(t, text)),
    '[["–é\\\\ü",true,false],["’éü",true,false],["’éu",false,false],["–é\\\\ü",true,false],["😀 é",false,true]]'
  )
})

t.test("given the engine, when it is ready, then its code is kept, with what has run until then", async (t) => {
  const file = ensureBuilt("runtime/main.ts") ?? ""
  // Another engine may be about to write it.
  for (const path of keptBeside(file)) rmSync(path, { recursive: true, force: true })
  const { url } = await openDatabase(t)
  await npmStart(t, { DATABASE_URL: url })
  const { name } = await until("kept code", () =>
    readdirSync(dirname(file), { withFileTypes: true }).find((entry) => entry.isFile() && entry.name.startsWith(`${basename(file)}.`))
  )
  t.ok(readFileSync(join(dirname(file), name)).includes("Trunkline is ready at "))
})
