/** What passes between the sockets and the routes: plain values, already copied out of the server's memory. */
import { type Effect, Schema, type Stream } from "effect"
import type { Client } from "./Client.ts"

export type Method = "get" | "post" | "put" | "patch" | "delete"

/** The client sent more than it may; the server has answered, and drops the rest. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limit: Schema.Int }) {}

export interface Asked {
  /** In logs and in the answer's `x-request-id`. */
  readonly id: string
  /** By name, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** What follows the `?`, as it came; empty where the endpoint does not look at it. */
  readonly query: string
  /** The headers that the endpoint has listed, by lower-case name; one that is absent or empty is not in it. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: Client
  /** Of an endpoint with `body: "bytes"`; else empty. */
  readonly bytes: Uint8Array
  /** Of an endpoint with `body: "stream"`; else empty. Can be read once, and reading is what makes the client send more. */
  readonly stream: Stream.Stream<Uint8Array, BodyTooLarge>
}

/** Bytes too many to hold: written as fast as the client takes them. A failure cuts the answer off. */
export interface Flow {
  /** Undefined: nobody knows yet; the answer is chunked, and whoever reads it may be in no hurry. */
  readonly bytes: number | undefined
  readonly stream: Stream.Stream<Uint8Array, unknown>
}

export interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | Flow
  /** The same request may be answered differently a moment later, so this answer is not stored under its key. */
  readonly isPassing?: boolean
}

export interface Endpoint<R> {
  readonly method: Method
  /** `/api/v1/campaign/:campaign_id` */
  readonly path: string
  /** Lower-case names. */
  readonly headers: ReadonlyArray<string>
  readonly hasQuery: boolean
  readonly body: "none" | "bytes" | "stream"
  readonly bodyLimit: number
  /**
   * What the head alone is refused with, whatever the body is. `bodyBytes`: how long it says that the body is; NaN where it does not say, and
   * zero where there is none.
   */
  readonly refusal: (headers: Asked["headers"], client: Client, bodyBytes: number) => Reply | undefined
  readonly answer: (asked: Asked) => Effect.Effect<Reply, never, R>
}

export const jsonHeaders: Reply["headers"] = [["content-type", "application/json"]]

export const json = (status: number, value: unknown): Reply => ({
  status,
  headers: jsonHeaders,
  body: JSON.stringify(value)
})

/** Every error body of the API. */
export const failure = (status: number, detail: unknown): Reply => json(status, { detail })

export const tooLarge = (limit: number): Reply => failure(413, `The request body is larger than ${limit} bytes`)

const retryAfterSeconds = 5
const later = (detail: string): Reply => ({
  ...failure(503, detail),
  headers: [...jsonHeaders, ["retry-after", String(retryAfterSeconds)]]
})
export const timedOut = later("The request timed out")
export const shuttingDown = later("The service is shutting down")
