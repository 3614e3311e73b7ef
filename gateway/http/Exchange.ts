import type { Fiber } from "effect"
import type * as uws from "uWebSockets.js"
import type { RouteMetrics } from "#gateway/ports/HttpMetrics.ts"
import type { RequestTrace } from "#gateway/ports/RequestTraces.ts"
import type { BodyWriter } from "./BodyWriter.ts"
import { requestId } from "./requestParts.ts"

/** One request and its answer. */
export interface Exchange {
  readonly id: string
  readonly metrics: RouteMetrics
  readonly res: uws.HttpResponse
  readonly isHead: boolean
  /** The origin of the page that sends the request; empty if any origin may read answers. */
  readonly origin: string
  deadline: number
  /** When its fiber began, in monotonic nanoseconds; undefined for an answer that is known at once. */
  beganAt: bigint | undefined
  /** All of the body has arrived. */
  isComplete: boolean
  isPaused: boolean
  /** The request's handler is still running: everything written there is corked. */
  isCorked: boolean
  /** The answer is known, although it may not be written yet. */
  isDecided: boolean
  /** Writes the body of the answer, once its head has been written. */
  writer: BodyWriter | undefined
  /** Answered or aborted: `res` must no longer be touched. */
  isOver: boolean
  fiber: Fiber.Fiber<unknown> | undefined
  trace: RequestTrace | undefined
}

export const exchangeOf = (
  res: uws.HttpResponse,
  req: uws.HttpRequest,
  start: Pick<Exchange, "metrics" | "isHead" | "deadline" | "isComplete" | "origin">
): Exchange => ({
  id: requestId(req),
  origin: start.origin,
  metrics: start.metrics,
  res,
  isHead: start.isHead,
  deadline: start.deadline,
  beganAt: undefined,
  isComplete: start.isComplete,
  isPaused: false,
  isCorked: true,
  isDecided: false,
  writer: undefined,
  isOver: false,
  fiber: undefined,
  trace: undefined
})
