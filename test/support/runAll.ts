/**
 * Runs test files and reports on them: `npm test` those that prove a change, `npm run test:stories` the rest, `npm test -- FILE...` only these. Files run
 * side by side; then those that need real time, one by one; then those that failed once more, each alone.
 *
 * It replaces tap's own runner, which starts every file with a module hook on a second thread that records, for coverage, what the file loads.
 * That takes two seconds of CPU time per file, more than most files need for their tests, and prevents Node from caching compiled code.
 */
import { globSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { ensureBuilt } from "#runtime/build.js"
import type { Batch } from "./batches.ts"
import { bundlePackages } from "./bundlePackages.ts"
import type { FileReport } from "./FileReport.ts"
import { againOf, linesOf, summaryOf } from "./RunReport.ts"
import { carriersOf, turnOf } from "./partOfRun.ts"
import { runFiles } from "./runFiles.ts"
import { filesOf, planOf, waits } from "./runPlan.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** A file that hangs is ended after this time, which is enough for the slowest file on a machine with two dozen other busy processes. */
const fileSeconds = Number(process.env["FILE_SECONDS"] ?? 1800)
const { positionals: asked, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean", default: false }, stories: { type: "boolean", default: false } }
})
const print = (lines: ReadonlyArray<string>) => process.stdout.write(lines.map((line) => `${line}\n`).join(""))

// What is asked for by name takes all carriers and variants, like `--all`.
const turn = values.all || asked.length > 0 ? undefined : turnOf(root)
const carriers = turn === undefined ? undefined : carriersOf(root, turn)
if (values.stories && carriers !== undefined)
  print([`By its commit, this run takes the carriers ${carriers.join(" and ")}, and turn ${turn} of the variants (--all takes all)`])
const files =
  asked.length > 0 ? asked : filesOf(values.stories ? "stories" : "tests", globSync("test/**/*.test.ts", { cwd: root }), carriers)
const plan = planOf(files)

// Built once here, because otherwise each of the stories that start side by side would build it.
const engine = files.some(waits) ? ensureBuilt("test/support/engineMain.ts") : undefined
const env = {
  ...process.env,
  ...(engine === undefined ? {} : { TEST_ENGINE: engine }),
  ...(carriers === undefined ? {} : { TEST_CARRIERS: carriers.join(), TEST_TURN: String(turn) }),
  TAP: "1",
  TEST_PACKAGES: await bundlePackages(),
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/tests"),
  TAP_TIMEOUT: String(fileSeconds)
}

const run = async (batch: ReadonlyArray<string>, reports: Array<FileReport>) => {
  const report = (it: FileReport) => {
    reports.push(it)
    print(linesOf(it))
  }
  await runFiles(batch, { cwd: root, env, fileMillis: fileSeconds * 1000, report })
}
const reports: Array<FileReport> = []
const cores = availableParallelism()
/**
 * With so many processes that want a core in the last minute, more files side by side would end no sooner, and what they judge by the
 * clock would fail more often.
 */
const isCrowded = () => (loadavg()[0] ?? 0) > 8 * cores
const lookMillis = 2000
/** Runs at most `width` batches at a time, queue after queue; on a crowded machine, only one for each core. Several lanes may share a queue. */
const runSideBySide = async (queues: ReadonlyArray<Array<Batch>>, width: number) => {
  const next = () => queues.find((queue) => queue.length > 0)?.shift()
  const lane = async (_: unknown, index: number) => {
    const hasToWait = () => index >= cores && isCrowded() && queues.some((queue) => queue.length > 0)
    while (true) {
      while (hasToWait()) await pause(lookMillis)
      const batch = next()
      if (batch === undefined) return
      await run(batch, reports)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
}
const runOneByOne = async (names: ReadonlyArray<string>, into: Array<FileReport>) => {
  for (const name of names) await run([name], into)
}

const { realTime, stories, others } = plan
await Promise.all([runSideBySide([stories, others], 3 * cores), runSideBySide([others, stories], cores)])
await runOneByOne(realTime, reports)
const again = againOf(reports)
const second: Array<FileReport> = []
if (again.length > 0) print(["", "Once more, alone:"])
await runOneByOne(again, second)
const { isPassed, lines } = summaryOf(reports, second, performance.now() / 1000)
print(lines)
process.exitCode = isPassed ? 0 : 1
