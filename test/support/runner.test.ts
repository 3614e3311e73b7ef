/** The runner of the tests: what it says of files that fail, end their process or hang, and what their second chance changes. */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import t, { type Test } from "tap"
import { pairOf, variantsOfRun } from "./partOfRun.ts"
import { realTime } from "./namedFiles.ts"
import { againOf, summaryOf } from "./RunReport.ts"
import { filesOf, planOf } from "./runPlan.ts"

// Directly, a file has 30 s by default.
t.setTimeout(0)

const stripped = fileURLToPath(new URL("./stripped.js", import.meta.url))
const runAll = fileURLToPath(new URL("./runAll.ts", import.meta.url))
const passing = `t.test("sum", async (t) => t.equal(1 + 1, 2))`
const failing = `t.test("sum", async (t) => t.equal(1 + 1, 3, "three"))`
const open = `import { createServer } from "node:net"\n${passing}\ncreateServer().listen(0)`
const killed = `t.test("signal", async (t) => { process.kill(process.pid, "SIGKILL"); await new Promise(() => setTimeout(() => {}, 60000)) })`

type Texts = Readonly<Record<string, string>>
/** A folder with files of these texts, and their paths. */
const filesWith = (t: Test, texts: Texts, others: Texts = {}) => {
  const files = Object.entries(texts).map(([name, body]) => [`${name}.ts`, `import t from "tap"\n${body}\n`])
  const folder = t.testdir({ running: {}, ...others, ...Object.fromEntries(files) })
  return { folder, paths: files.map(([name]) => `${folder}/${name}`) }
}
const nodeRuns = async (args: ReadonlyArray<string>, environment: Texts = {}) => {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "ignore"] })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return { output: await text(child.stdout), code: await ended }
}

t.test("given a batch", async (t) => {
  const runner = `
    import { runFiles } from "#test/support/runFiles.ts"
    const report = ({ file, passed, failures }) =>
      console.log(JSON.stringify([/(\\w+)\\.ts$/.exec(file)[1], passed, failures.map(([name]) => name.trim())]))
    await runFiles(process.argv.slice(3), { cwd: process.cwd(), env: process.env, fileMillis: Number(process.argv[2]), report })`
  /** Runs files with these texts as one batch, and returns for each its name, how many assertions passed, and what failed. */
  const batchOf = async (t: Test, texts: Texts, seconds = 600): Promise<ReadonlyArray<unknown>> => {
    const { folder, paths } = filesWith(t, texts, { "runner.js": runner })
    const { output } = await nodeRuns(["--import", stripped, `${folder}/runner.js`, `${seconds * 1000}`, ...paths], { TAP: "1" })
    return output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  }

  t.test("when files fail or end their process, then each fails by its name, and those after them run", async (t) => {
    const reports = await batchOf(t, {
      first: passing,
      wrong: failing,
      throwing: `${passing}\nthrow new Error("at its import")`,
      exiting: `${passing}\nt.test("exit", async () => process.exit(0))`,
      crashing: `${passing}\nsetTimeout(() => { throw new Error("late") }, 100)`,
      signalled: killed,
      coded: `${passing}\nprocess.exitCode = 3`,
      unfinished: `t.test("promise", () => new Promise(() => {}))`,
      empty: `t.test("law", async (t) => { await t.test("inner", async () => {}); t.equal(1, 1) })`,
      both: `t.test("two", async (t) => { t.equal(1, 2, "first"); t.equal(1, 1); t.equal(1, 3, "third") })`,
      last: passing
    })
    t.strictSame(reports, [
      ["first", 1, []],
      ["wrong", 0, ["x sum > three"]],
      ["throwing", 1, ["x at its import"]],
      ["exiting", 1, ["x exit > test unfinished"]],
      ["crashing", 1, ["x the process ended with code 1"]],
      ["signalled", 0, ["x the process ended with SIGKILL"]],
      ["coded", 1, ["x the process ended with code 3"]],
      ["unfinished", 0, ["x promise > test unfinished"]],
      ["empty", 2, []],
      ["both", 1, ["x two > first", "x two > third"]],
      ["last", 1, []]
    ])
  })

  t.test("when a file leaves a server open until its time is over, then it fails by its name, and the next one runs", async (t) => {
    t.strictSame(await batchOf(t, { first: passing, open, last: passing }, 10), [
      ["first", 1, []],
      ["open", 1, ["x not over after 10 s"]],
      ["last", 1, []]
    ])
  })
})

/** Fails the first time that it runs. Later it also looks who runs beside it. */
const flaky = `
  import { readdirSync, rmSync, writeFileSync } from "node:fs"
  import { basename } from "node:path"
  const [folder, name] = [import.meta.dirname, basename(import.meta.filename)]
  const isFirst = !readdirSync(folder).includes("seen " + name)
  writeFileSync(folder + "/seen " + name, "")
  writeFileSync(folder + "/running/" + name, "")
  await new Promise((resolve) => setTimeout(resolve, 200))
  const running = readdirSync(folder + "/running")
  rmSync(folder + "/running/" + name)
  t.test("machine", async (t) => t.strictSame(isFirst ? "busy" : running, [name], "it is alone"))`

/** What a run of files with these texts prints, without the folder's name and without durations. */
const runOf = async (t: Test, texts: Texts, seconds = 600) => {
  const { folder, paths } = filesWith(t, texts)
  const { code, output } = await nodeRuns(["--import", stripped, runAll, ...paths], { FILE_SECONDS: `${seconds}` })
  const lines = output
    .replaceAll(`${folder}/`, "")
    .replaceAll(/ {2}\d+\.\d s.*$/gm, "")
    .trimEnd()
    .split("\n")
  /** The lines below a title, down to the next empty one. */
  const below = (title: string) => {
    const rest = lines.slice(lines.indexOf(title) + 1)
    return rest.slice(0, [...rest, ""].indexOf(""))
  }
  return { below, code, last: lines.at(-1) }
}

t.test("given files that fail always, at first, and by killing their process, when they run, then each gets a second chance", async (t) => {
  const { below, code, last } = await runOf(t, { always: failing, killed, passing, flaky0: flaky, flaky1: flaky })
  t.strictSame(
    below("Once more, alone:")
      .filter((line) => /^(ok|FAIL)/.test(line))
      .toSorted(),
    ["FAIL  always.ts", "FAIL  killed.ts", "ok    flaky0.ts", "ok    flaky1.ts"],
    "alone"
  )
  t.match(
    below("Passed only alone, after what failed the first time:").join("\n"),
    /^ {2}flaky\d\.ts\n {4}x machine > it is alone\n.*busy.*\n {2}flaky\d\.ts\n/s,
    "and is listed if it passes then"
  )
  t.strictSame(
    below("The failures in short:")
      .filter((line) => /^ {2}\S/.test(line))
      .toSorted(),
    ["  always.ts", "  killed.ts", "  x sum > three", "  x the process ended with SIGKILL"],
    "or fails the run if it fails again"
  )
  t.strictSame({ code, last }, { code: 1, last: "3 passed, 2 failed" })
})

const report = { cpuSeconds: 1, details: [], failures: [], seconds: 1, skipped: 0 }
/** Reports of so many files with one assertion, which failed or passed. */
const reportsOf = (count: number, failed: 0 | 1) =>
  Array.from({ length: count }, (_, place) => ({ ...report, failed, passed: 1 - failed, file: `${place}` }))

t.test("given eight files that fail the first time only, then the run passes; given nine, it proves nothing and fails", async (t) => {
  const check = (count: number, isPassed: boolean, last: string) => {
    const summary = summaryOf(reportsOf(count, 1), reportsOf(count, 0), 1)
    t.strictSame({ isPassed: summary.isPassed, last: summary.lines.at(-1) }, { isPassed, last })
    t.equal(summary.lines.filter((line) => /^ {2}\d {2}1\.0 s, CPU/.test(line)).length, count)
  }
  check(8, true, "8 passed, 0 failed")
  check(9, false, "9 passed, 1 failed")
})

t.test("given a file that hangs, when its time is over twice, then the run fails by its name", async (t) => {
  const { below, code } = await runOf(t, { open }, 10)
  const failures = below("The failures in short:")
  t.equal(failures[0], "  open.ts")
  t.ok(failures.includes("  x not over after 10 s"))
  t.equal(code, 1)
})

t.test("given many failures, then nothing runs again", async (t) => {
  t.equal(againOf(reportsOf(16, 1)).length, 16)
  t.equal(againOf(reportsOf(17, 1)).length, 0)
})

t.test("given the files of the tests", async (t) => {
  const [audible = ""] = realTime.keys()
  const files = [
    audible,
    "test/core/call.test.ts",
    "test/core/money.test.ts",
    "test/journey/other.test.ts",
    "test/journey/hosted/plivo.test.ts"
  ]

  t.test("when real time is needed, then a file runs after the others", async (t) => {
    const { others, realTime: last, stories } = planOf(files.slice(0, 4))
    t.strictSame(last, [audible])
    t.strictSame(others.flat().toSorted(), ["test/core/call.test.ts", "test/core/money.test.ts"])
    t.strictSame(stories, [["test/journey/other.test.ts"]])
  })

  t.test("when a run is short or long, then each file belongs to one of them", async (t) => {
    const [short, long] = [filesOf("tests", files), filesOf("stories", files)]
    t.strictSame([...short, ...long].toSorted(), files.toSorted())
    t.ok(long.includes("test/journey/other.test.ts"))
    t.ok(short.includes("test/core/call.test.ts"))
    t.notOk(
      filesOf("stories", files, ["twilio"]).includes("test/journey/hosted/plivo.test.ts"),
      "and carriers that were not chosen to none"
    )
  })

  t.test("when commits choose carriers, then every pair has its turn", async (t) => {
    const pairs = new Set(Array.from({ length: 6 }, (_, turn) => pairOf(["a", "b", "c"], turn).join()))
    t.strictSame([...pairs].toSorted(), ["a,b", "a,c", "b,a", "b,c", "c,a", "c,b"])
  })

  t.test("when a story has variants, then a run takes some, and each has its turn", async (t) => {
    const taken = Array.from({ length: 3 }, (_, turn) => variantsOfRun(["a", "b", "c"], 2, String(turn)).join())
    t.strictSame(taken, ["a,b", "b,c", "c,a"])
  })
})
