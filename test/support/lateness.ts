/**
 * How busy the machine is, for tests of promises about time: on a loaded machine, a limit may be exceeded only as far as the machine itself is
 * late.
 */
import { Worker } from "node:worker_threads"

const beatMillis = 20
/** A reaction of the engine that a test observes takes at most this many turns of the processes involved. */
const turns = 20

interface Lateness {
  /** Adds to `millis` how late the turns of a reaction may have been: next to nothing on a quiet machine. */
  readonly allow: (millis: number) => number
  /** How late a single turn may have been; milliseconds. */
  readonly worst: () => number
}

const now = () => performance.timeOrigin + performance.now()

/**
 * Runs in a thread of ordinary priority, like Postgres; this process may have raised its own (`priority.ts`). Two numbers: the worst, and the
 * last.
 */
const program = `
const { setPriority } = require("node:os")
const { workerData } = require("node:worker_threads")
try { if (process.platform === "linux") setPriority(0, 0) } catch {}
const moments = new Float64Array(workerData)
const now = ${now}
moments[1] = now()
setInterval(() => {
  moments[0] = Math.max(moments[0], now() - moments[1] - ${beatMillis})
  moments[1] = now()
}, ${beatMillis})
`

/** Starts to measure how late this process and an ordinary thread are scheduled, as everything else on the machine is. */
export const watchLateness = (): Lateness => {
  const moments = new Float64Array(new SharedArrayBuffer(16))
  // Without the flags of the process, because a loader among them would be loaded again.
  new Worker(program, { eval: true, execArgv: [], workerData: moments.buffer }).unref()
  const began = now()
  let worst = 0
  let last = began
  const look = () => {
    worst = Math.max(worst, now() - last - beatMillis)
    last = now()
  }
  setInterval(look, beatMillis).unref()
  const worstSoFar = () => {
    look()
    const [worstThere = 0, lastThere = 0] = moments
    return Math.max(0, worst, worstThere, now() - (lastThere || began) - beatMillis)
  }
  return { allow: (millis) => millis + turns * worstSoFar(), worst: worstSoFar }
}
