/** A failure during a call that did not end it, as an event in the run's logs. */
import type { FeedbackEvent } from "./RunRecord.ts"

/** `processor`: the service or the part of the engine in which it happened. `at` is in epoch milliseconds. */
export interface RunProblem {
  readonly at: number
  readonly error: string
  readonly processor: string
}

/** The payload of an `rtf-pipeline-error`. */
export const problemPayload = ({ error, processor }: Omit<RunProblem, "at">): FeedbackEvent["payload"] => ({
  error,
  fatal: false,
  processor
})

/** For a problem outside of the conversation, before the callee has said anything. */
export const problemEvent = (problem: RunProblem): FeedbackEvent => ({
  type: "rtf-pipeline-error",
  payload: problemPayload(problem),
  timestamp: new Date(problem.at).toISOString(),
  turn: 0
})
