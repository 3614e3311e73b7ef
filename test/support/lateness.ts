/** How busy the machine is, for promises that are themselves a time: a limit that a loaded machine may exceed only by being late itself. */
import { Worker } from "node:worker_threads"

const beatMillis = 20
/** A reaction of the engine that a test observes takes no more turns of the processes involved than this. */
const turns = 20

interface Lateness {
  /** `millis`, and what the turns of a reaction may have been late: nothing to speak of on a quiet machine. */
  readonly allow: (millis: number) => number
}

const now = () => performance.timeOrigin + performance.now()

/** Runs in a thread of ordinary priority, which this process may not have (`priority.ts`), but Postgres has. Two numbers: the worst, the last. */
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

/** Measures from now on how late this process, and an ordinary thread, are given their turn, as everything else on the machine is. */
export const watchLateness = (): Lateness => {
  const moments = new Float64Array(new SharedArrayBuffer(16))
  // Without the flags of the process: a loader among them would be loaded again.
  new Worker(program, { eval: true, execArgv: [], workerData: moments.buffer }).unref()
  const began = now()
  let worst = 0
  let last = began
  const look = () => {
    worst = Math.max(worst, now() - last - beatMillis)
    last = now()
  }
  setInterval(look, beatMillis).unref()
  return {
    allow: (millis) => {
      look()
      const [worstThere = 0, lastThere = 0] = moments
      return millis + turns * Math.max(0, worst, worstThere, now() - (lastThere || began) - beatMillis)
    }
  }
}
