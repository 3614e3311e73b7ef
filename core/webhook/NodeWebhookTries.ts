/** The outcome of a try to deliver a node's webhook: succeeded, to be retried, or dead-lettered. */
import type { NodeWebhookState } from "./NodeWebhook.ts"

const SECOND = 1000
const FIRST_WAIT = 30 * SECOND
const LONGEST_WAIT = 600 * SECOND
const triesInAll = 5

/** Statuses that may be temporary. Any other status that is not a success is final. */
const passing: ReadonlyArray<number> = [408, 425, 429, 500, 502, 503, 504]

/** Errors that a retry cannot cure: an IP literal stays what it is, whereas a name may come to resolve to another address. */
const lasting: ReadonlyArray<string> = ["address_not_public"]

export interface Outcome {
  readonly state: NodeWebhookState
  /** Milliseconds until the next try, if the delivery is pending. */
  readonly dueInMillis: number
  readonly status: number | undefined
  /** A short code, such as `timeout` or `status_404`. */
  readonly error: string | undefined
}

/** Milliseconds until the next try after `tries` failed ones; undefined after the last one. */
const waitAfter = (tries: number): number | undefined =>
  tries >= triesInAll ? undefined : Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT)

/** `tries` includes this try. `answer` is the status of a response, or a code that says why there was none. */
export const outcomeOf = (answer: number | string, tries: number): Outcome => {
  const status = typeof answer === "number" ? answer : undefined
  if (status !== undefined && status >= 200 && status < 300) return { state: "succeeded", dueInMillis: 0, status, error: undefined }
  const error = typeof answer === "number" ? `status_${answer}` : answer
  const mayPass = typeof answer === "number" ? passing.includes(answer) : !lasting.includes(answer)
  const wait = mayPass ? waitAfter(tries) : undefined
  return { state: wait === undefined ? "dead_letter" : "pending", dueInMillis: wait ?? 0, status, error }
}
