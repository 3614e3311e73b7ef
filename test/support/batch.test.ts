/** Each file of a batch gets the same report as if it ran alone, whatever the other files do. */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import t, { type Test } from "tap"

const stripped = fileURLToPath(new URL("./stripped.js", import.meta.url))
const runner = `
import t from "tap"
import { runBatch } from "#test/support/runBatch.ts"
await runBatch(t, process.argv.slice(3), { cwd: process.cwd(), env: process.env, fileMillis: Number(process.argv[2]) })
`
const passing = `t.test("sum", async (t) => t.equal(1 + 1, 2))`

/** Runs files with these texts, one after the other, and returns for each its name, `ok` or `not ok`, and why it failed. */
const report = async (t: Test, texts: Readonly<Record<string, string>>, seconds = 600) => {
  const files = Object.entries(texts).map(([name, body]) => [`${name}.ts`, `import t from "tap"\n${body}\n`])
  const folder = t.testdir({ "runner.js": runner, ...Object.fromEntries(files) })
  const args = ["--import", stripped, `${folder}/runner.js`, `${seconds * 1000}`, ...files.map(([name]) => `${folder}/${name}`)]
  const child = spawn(process.execPath, args, { env: { ...process.env, TAP: "1" }, stdio: ["ignore", "pipe", "ignore"] })
  const lines = (await text(child.stdout)).split("\n")
  const found: Array<{ readonly file: string | undefined; readonly is: string | undefined; readonly reasons: ReadonlyArray<string> }> = []
  let reasons: Array<string> = []
  for (const line of lines) {
    const [, is, file] = /^((?:not )?ok) \d+ - .*\/(\w+)\.ts/.exec(line) ?? []
    const [, reason] = /^ {4,8}not ok \d+ - (.*?)(?: # time=.*)?$/.exec(line) ?? []
    if (reason !== undefined) reasons.push(reason)
    if (is === undefined) continue
    found.push({ file, is, reasons })
    reasons = []
  }
  return found
}

t.test("given files that fail or end their process, then each fails by its name, and those after them run", async (t) => {
  const found = await report(t, {
    first: passing,
    wrong: `t.test("sum", async (t) => t.equal(1 + 1, 3, "three"))`,
    throwing: `${passing}\nthrow new Error("at its import")`,
    exiting: `${passing}\nt.test("exit", async () => process.exit(0))`,
    crashing: `${passing}\nsetTimeout(() => { throw new Error("late") }, 100)`,
    signalled: `t.test("signal", async (t) => { process.kill(process.pid, "SIGKILL"); await new Promise(() => setTimeout(() => {}, 60000)) })`,
    coded: `${passing}\nprocess.exitCode = 3`,
    unfinished: `t.test("promise", () => new Promise(() => {}))`,
    last: passing
  })
  t.strictSame(found, [
    { file: "first", is: "ok", reasons: [] },
    { file: "wrong", is: "not ok", reasons: ["three", "sum"] },
    { file: "throwing", is: "not ok", reasons: ["at its import"] },
    { file: "exiting", is: "not ok", reasons: ["test unfinished"] },
    { file: "crashing", is: "not ok", reasons: ["the process ended with code 1"] },
    { file: "signalled", is: "not ok", reasons: ["the process ended with SIGKILL"] },
    { file: "coded", is: "not ok", reasons: ["the process ended with code 3"] },
    { file: "unfinished", is: "not ok", reasons: ["test unfinished", "promise"] },
    { file: "last", is: "ok", reasons: [] }
  ])
})

t.test("given a file that leaves a server open, when its time is over, then it fails by its name, and the next one runs", async (t) => {
  const open = `import { createServer } from "node:net"\n${passing}\ncreateServer().listen(0)`
  t.strictSame(await report(t, { first: passing, open, last: passing }, 10), [
    { file: "first", is: "ok", reasons: [] },
    { file: "open", is: "not ok", reasons: ["not over after 10 s"] },
    { file: "last", is: "ok", reasons: [] }
  ])
})
