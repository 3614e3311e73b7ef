/** Waiting for what a test is not notified of, and the clock of the callees' log. */

/**
 * The pause between two looks: short at first, then one fiftieth of the wait so far. A hundred questions a second for minutes would keep the
 * engine and its database busy with nothing else.
 */
const looks = { shortestMillis: 10, longestMillis: 100, share: 0.02 }
/** Costs nothing when the event comes. It is long because two dozen busy processes on two cores make everything ten times slower. */
const patienceMillis = 600_000

/**
 * Resolves when `found` returns something. After ten minutes, or the shorter time that a promise of the product allows, the error says what
 * was waited for.
 */
export const until = async <A>(what: string, found: () => A | undefined | Promise<A | undefined>, millis = patienceMillis): Promise<A> => {
  const began = performance.now()
  while (true) {
    const it = await found()
    if (it !== undefined) return it
    const waited = performance.now() - began
    if (waited > millis) throw new Error(`no ${what} within ${millis} ms`)
    const pause = Math.min(looks.longestMillis, Math.max(looks.shortestMillis, waited * looks.share))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
export const untilTrue = (what: string, holds: () => boolean | Promise<boolean>, millis?: number): Promise<true> =>
  until(what, async () => (await holds()) || undefined, millis)

/** Milliseconds since the epoch on the clock of the callees' log. */
export const nowMillis = (): number => performance.timeOrigin + performance.now()
