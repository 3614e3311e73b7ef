/** How busy the machine is, for promises that are themselves a time: a limit that a loaded machine may exceed only by being late itself. */

const beatMillis = 20
/** A reaction of the engine that a test observes takes no more turns of the processes involved than this. */
const turns = 20

interface Lateness {
  /** `millis`, and what the turns of a reaction may have been late: nothing to speak of on a quiet machine. */
  readonly allow: (millis: number) => number
}

/** Measures from now on how late this process is given its turn, as everything else on the machine is. */
export const watchLateness = (): Lateness => {
  let worst = 0
  let last = performance.now()
  const look = () => {
    const now = performance.now()
    worst = Math.max(worst, now - last - beatMillis)
    last = now
  }
  setInterval(look, beatMillis).unref()
  return {
    allow: (millis) => {
      look()
      return millis + turns * Math.max(0, worst)
    }
  }
}
