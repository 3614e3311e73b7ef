/** What a callee hears of frames that arrive while nothing in this process can run. */
import { untilTrue } from "#test/support/until.ts"

const frames = 5
const stallMillis = 150
/** Of ticks that were due before the frames were sent, some may be made after it; but not each time. */
const attempts = 10

/** `heard`: of each tick, whether there was a frame to hear. True: once all that were sent were heard, and nothing was missed before them. */
export const hearsAfterStall = async (heard: ReadonlyArray<boolean>, send: () => void): Promise<boolean> => {
  await untilTrue("ticks", () => heard.length > 0)
  for (let attempt = 0; attempt < attempts; attempt++) {
    // After this, timers come before what has arrived.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const before = heard.length
    for (let count = 0; count < frames; count++) send()
    const over = performance.now() + stallMillis
    while (performance.now() < over);
    await untilTrue("ticks after it", () => heard.slice(before).filter((isHeard) => isHeard).length >= frames)
    if (heard.slice(before, before + frames).every((isHeard) => isHeard)) return true
  }
  return false
}
