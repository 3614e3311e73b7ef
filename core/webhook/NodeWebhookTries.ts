/** What a try to deliver came to: taken, to be tried again, or dead. */
import type { NodeWebhookState } from "./NodeWebhook.ts"

const SECOND = 1000
const FIRST_WAIT = 30 * SECOND
const LONGEST_WAIT = 600 * SECOND
const triesInAll = 5

/** What may pass by itself. Any other answer that is no success is the last word. */
const passing: ReadonlyArray<number> = [408, 425, 429, 500, 502, 503, 504]

/** No IP literal becomes public by waiting; what a name leads to may change. */
const lasting: ReadonlyArray<string> = ["address_not_public"]

export interface Outcome {
  readonly state: NodeWebhookState
  /** Of a pending one: to its next try. */
  readonly dueInMillis: number
  readonly status: number | undefined
  /** A short word. */
  readonly error: string | undefined
}

/** Milliseconds to the next try after so many; undefined: that was the last one. */
const waitAfter = (tries: number): number | undefined =>
  tries >= triesInAll ? undefined : Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT)

/** `tries` counts this one. A number is the status of an answer, a word says why there was none. */
export const outcomeOf = (answer: number | string, tries: number): Outcome => {
  const status = typeof answer === "number" ? answer : undefined
  if (status !== undefined && status >= 200 && status < 300) return { state: "succeeded", dueInMillis: 0, status, error: undefined }
  const error = typeof answer === "number" ? `status_${answer}` : answer
  const mayPass = typeof answer === "number" ? passing.includes(answer) : !lasting.includes(answer)
  const wait = mayPass ? waitAfter(tries) : undefined
  return { state: wait === undefined ? "dead_letter" : "pending", dueInMillis: wait ?? 0, status, error }
}
