/** Waits for what a test is not notified of, and reads the clock of the callees' log. */

/** The pauses between looks: short at first, then a share of the time that has passed. */
interface Looks {
  readonly longestMillis: number
  readonly share: number
}
const shortestMillis = 10
/** For what this process knows itself, and for what costs nothing to check. */
const often: Looks = { longestMillis: 250, share: 0.02 }
/** For requests to the engine or its database, which dozens of requests per second would keep busy. */
const asking: Looks = { longestMillis: 250, share: 0.08 }
/** For what takes long and is not missed, such as the end of a campaign: each look is a request with an answer to be checked. */
export const seldom: Looks = { longestMillis: 1000, share: 0.2 }
/** This costs nothing if the event comes. It is long because two dozen busy processes on two cores make everything ten times slower. */
const patienceMillis = 600_000
/** What is left of it once a wait was in vain: the file has failed, and the others need not wait for it. */
const lastPatienceMillis = 20_000
let wasInVain = false

/**
 * Resolves when `found` returns something. After ten minutes (20 s if an earlier wait of this file was in vain), or after the shorter time that
 * the product promises, it rejects with an error that says what was awaited.
 */
export const until = async <A>(
  what: string,
  found: () => A | undefined | Promise<A | undefined>,
  millis = wasInVain ? lastPatienceMillis : patienceMillis,
  looks?: Looks
): Promise<A> => {
  const began = performance.now()
  while (true) {
    const look = found()
    const { longestMillis, share } = looks ?? (look instanceof Promise ? asking : often)
    const it = await look
    if (it !== undefined) return it
    const waited = performance.now() - began
    if (waited > millis) {
      wasInVain ||= millis === patienceMillis
      throw new Error(`no ${what} within ${millis} ms`)
    }
    const pause = Math.min(longestMillis, Math.max(shortestMillis, waited * share))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
export const untilTrue = (what: string, holds: () => boolean | Promise<boolean>, millis?: number): Promise<true> =>
  until(
    what,
    () => {
      const held = holds()
      return held instanceof Promise ? held.then((it) => it || undefined) : held || undefined
    },
    millis
  )

/** Milliseconds since the epoch on the clock of the callees' log. */
export const nowMillis = (): number => performance.timeOrigin + performance.now()
