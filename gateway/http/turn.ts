/**
 * What is answered at once, however much has arrived. A client can send thousands of small requests in one piece; without a limit all of them
 * would be answered before anything else happens, such as the next 20 ms of a call's audio.
 */

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
