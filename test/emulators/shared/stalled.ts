/** What a callee hears if frames arrive while nothing in this process can run. */
import { untilTrue } from "#test/support/until.ts"

const frames = 5
const stallMillis = 150
/** Some of the ticks that were due before the frames were sent may run after it, but not in every attempt. */
const attempts = 10

/** `heard`: whether each tick had a frame to hear. Returns true if, in one attempt, all sent frames were heard and no frame was missed before them. */
export const hearsAfterStall = async (heard: ReadonlyArray<boolean>, send: () => void): Promise<boolean> => {
  await untilTrue("ticks", () => heard.length > 0)
  for (let attempt = 0; attempt < attempts; attempt++) {
    // After this, timers run before arrived data is read.
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
