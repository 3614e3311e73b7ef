/**
 * `npm test`: runs test files side by side and reports on them; `npm test -- FILE...` runs only those.
 *
 * It replaces tap's own runner, which starts every file with a module hook on a second thread that records, for coverage, what the file loads.
 * That takes two seconds of CPU time per file, more than most files need for their tests, and prevents Node from caching compiled code.
 */
import { spawn } from "node:child_process"
import { globSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { ensureBuilt } from "#runtime/build.js"
import { type Batch, batchesOf } from "./batches.ts"
import { bundlePackages } from "./bundlePackages.ts"
import { audible, longest } from "./namedFiles.ts"
import { runBatch } from "./runBatch.ts"

// Before anything that takes long: on a busy machine, building alone takes longer than tap's own limit.
t.setTimeout(0)

const root = fileURLToPath(new URL("../..", import.meta.url))
const reporter = fileURLToPath(new URL("./report.ts", import.meta.url))
const stripped = fileURLToPath(new URL("./stripped.js", import.meta.url))
/** A file that hangs is ended after this time, which is enough for the slowest file on a machine with two dozen other busy processes. */
const fileMillis = 1_800_000
/** Files that mostly wait: for calls to end, for engines to start, for timeouts to pass. */
const waiting = /^test\/(adapters|chaos|conversations|journey)\//

const placeOf = (file: string): number => {
  const place = longest.findIndex((end) => file.endsWith(end))
  return place === -1 ? longest.length : place
}
const asked = process.argv.slice(2)
const files = (asked.length > 0 ? asked : globSync("test/**/*.test.ts", { cwd: root })).toSorted(
  (a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b)
)
/** Batches come after the longest files, and before the files that take little time. */
const placeOfBatch = (batch: Batch): number => (batch.length > 1 ? longest.length - 0.5 : placeOf(batch[0]))
const batches = batchesOf(files).toSorted((a, b) => placeOfBatch(a) - placeOfBatch(b))

// Built once here, because otherwise each of the stories that start side by side would build it.
const engine = files.some((file) => waiting.test(file)) ? ensureBuilt("test/support/engineMain.ts") : undefined
const environment = {
  ...process.env,
  ...(engine === undefined ? {} : { TEST_ENGINE: engine }),
  TEST_PACKAGES: await bundlePackages(),
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/tests"),
  TAP_TIMEOUT: String(fileMillis / 1000)
}
const runAlone = (name: string) =>
  t.spawn(
    "env",
    // tap puts its module hook into NODE_OPTIONS.
    ["-u", "NODE_OPTIONS", process.execPath, "--import", stripped, name],
    { at: null, buffered: true, cwd: root, env: environment, name, stack: "", timeout: fileMillis }
  )
const run = (batch: Batch) => (batch.length === 1 ? runAlone(batch[0]) : runBatch(t, batch, { cwd: root, env: environment, fileMillis }))

/** Runs `width` batches at a time, queue after queue. Several lanes may share a queue. */
const runSideBySide = async (queues: ReadonlyArray<Array<Batch>>, width: number) => {
  const next = () => queues.find((queue) => queue.length > 0)?.shift()
  const lane = async () => {
    for (let batch = next(); batch !== undefined; batch = next()) await run(batch)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

const cores = availableParallelism()
const [waitingWidth, busyWidth] = [3 * cores, cores]
const report = spawn(process.execPath, [reporter], { stdio: ["pipe", "inherit", "inherit"] })
const reported = new Promise((resolve) => report.once("close", resolve))
t.pipe(report.stdin)
t.jobs = waitingWidth + busyWidth
const isAudible = ([file]: Batch): boolean => audible.includes(file)
const talks = batches.filter(isAudible)
const stories = batches.filter((batch) => waiting.test(batch[0]) && !isAudible(batch))
const others = batches.filter(([file]) => !waiting.test(file))
const spoken = runSideBySide([talks], 1)
// One of them leaves a core to those who talk.
const besides = runSideBySide([others], 1)
await spoken
await Promise.all([besides, runSideBySide([stories, others], waitingWidth), runSideBySide([others], busyWidth - 1)])
t.end()
await reported
process.exitCode = t.passing() ? 0 : 1
