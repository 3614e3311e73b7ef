/** Waiting for what a test is not notified of, and the clock of the callees' log. */

const lookMillis = 10
/** Costs nothing when the event comes. It is long because two dozen busy processes on two cores make everything ten times slower. */
const patienceMillis = 600_000

/**
 * Resolves when `found` returns something. After ten minutes, or the shorter time that a promise of the product allows, the error says what
 * was waited for.
 */
export const until = async <A>(what: string, found: () => A | undefined | Promise<A | undefined>, millis = patienceMillis): Promise<A> => {
  const latest = performance.now() + millis
  while (true) {
    const it = await found()
    if (it !== undefined) return it
    if (performance.now() > latest) throw new Error(`no ${what} within ${millis} ms`)
    await new Promise((resolve) => setTimeout(resolve, lookMillis))
  }
}
export const untilTrue = (what: string, holds: () => boolean | Promise<boolean>, millis?: number): Promise<true> =>
  until(what, async () => (await holds()) || undefined, millis)

/** Milliseconds since the epoch on the clock of the callees' log. */
export const nowMillis = (): number => performance.timeOrigin + performance.now()
