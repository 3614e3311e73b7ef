/**
 * What is answered in one turn of the event loop, however much has arrived. A client can send thousands of small requests in one piece; without a
 * limit all of them would be answered before anything else happens, such as the next 20 ms of a call's audio.
 */
import { Effect } from "effect"

/** Of `limit` things in a period; `renew` is to call its argument when the next period begins. */
const budget = (limit: number, renew: (begin: () => void) => void): (() => boolean) => {
  let spent = 0
  return () => {
    if (spent === 0) renew(() => void (spent = 0))
    spent++
    return spent <= limit
  }
}

/** Whether one more answer may be written in this turn of the event loop. If not, it waits for the next. */
export const hasRoom = budget(50, setImmediate)

/**
 * Whether one more answer may be written without finding out whether the client takes it, as uWebSockets does when the connection is to end with
 * it. A client that reads nothing could make such answers wait by the thousand.
 */
export const mayGoUnchecked = budget(100, (begin) => setTimeout(begin, 10_000).unref())

/** Pieces of long answers that are written in one turn, of all answers together. */
const piecesPerTurn = 8
const waiting = new Set<() => void>()

const release = (): void => {
  let left = piecesPerTurn
  for (const begin of waiting) {
    if (left-- === 0) break
    waiting.delete(begin)
    begin()
  }
  if (waiting.size > 0) setImmediate(release)
}

/** Waits until one more piece of a long answer may be written. Hundreds of clients who ask for large answers at once would otherwise have them first. */
export const pieceTurn: Effect.Effect<void> = Effect.callback((resume) => {
  const begin = () => resume(Effect.void)
  if (waiting.size === 0) setImmediate(release)
  waiting.add(begin)
  return Effect.sync(() => void waiting.delete(begin))
})
