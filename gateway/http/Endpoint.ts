/** What passes between the sockets and the stages of a request: plain values, copied out of the server's memory. */
import { type Duration, type Effect, Schema, type Stream } from "effect"
import { SHUTTING_DOWN } from "#core/node/DecidingEngine.ts"
import type { Client } from "./Client.ts"

export type Method = "get" | "post" | "put" | "patch" | "delete"

/** The client sent more than the limit; the server has answered, and drops the rest. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limit: Schema.Int }) {}

export interface Asked {
  /** Identifies the request in logs and in the answer's `x-request-id`. */
  readonly id: string
  /** The path's parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The raw text after the `?`; empty if the endpoint does not read it. */
  readonly query: string
  /** The headers that the endpoint lists, by lower-case name; absent and empty ones are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: Client
  /** The body of an endpoint with `body: "bytes"`; otherwise empty. */
  readonly bytes: Uint8Array
  /** The body of an endpoint with `body: "stream"`; otherwise empty. It can be read once, and the client sends no faster than it is read. */
  readonly stream: Stream.Stream<Uint8Array, BodyTooLarge>
}

/** A client that is told things as they happen. */
export interface Told {
  /** Returns once the client can take more. For one fiber only. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void>
  /** Whether it is on its way; if not, the client still has to take what was written before. */
  readonly writeNow: (bytes: Uint8Array) => boolean
}

/** What an endless answer tells after its stream, what keeps its connection open, and what ends it. */
export interface Endless {
  readonly tell: (client: Told) => Effect.Effect<void, unknown>
  /** Written this often, as long as the client takes it: proxies close a connection that is silent for long. */
  readonly heartbeat: { readonly every: Duration.Input; readonly bytes: Uint8Array }
  /** Ends the answer when it returns; a failure cuts the answer off. */
  readonly until: Effect.Effect<void, unknown>
}

/** A body too large to hold in memory: written as fast as the client takes it. A failure cuts the answer off. */
export interface Flow {
  /** Undefined: not known yet. Then the answer is chunked, and a slow reader is not cut off. */
  readonly bytes: number | undefined
  readonly stream: Stream.Stream<Uint8Array, unknown>
  readonly endless?: Endless
}

export interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Bytes are the same for all who ask, and stay in memory anyway. */
  readonly body: string | Uint8Array | Flow
  /** The same request may be answered differently a moment later, so this answer is not stored under its `Idempotency-Key`. */
  readonly isPassing?: boolean
}

/** Nothing of it is still to be read. */
export const isWhole = (body: Reply["body"]): body is string | Uint8Array => typeof body === "string" || body instanceof Uint8Array

export interface Endpoint<R> {
  readonly method: Method
  /** `/api/v1/campaign/:campaign_id` */
  readonly path: string
  /** Names of the headers to copy, in lower case. */
  readonly headers: ReadonlyArray<string>
  readonly hasQuery: boolean
  /** The endpoint serves calls that are up, and keeps answering while there are any. */
  readonly isForCalls?: boolean
  /** Its address holds a secret of this engine, so whoever has it did not get here by DNS rebinding, whatever the `Host` header says. */
  readonly isSealed?: boolean
  readonly body: "none" | "bytes" | "stream"
  readonly bodyLimit: number
  /**
   * Refuses a request by its head alone, before the body arrives. `bodyBytes`: the declared length of the body; NaN if none is declared, zero
   * if there is no body.
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

/** Every error body of the API is made here. */
export const failure = (status: number, detail: unknown): Reply => json(status, { detail })

/** With a body, because only the body of an answer shows whether the client takes it: see `Answers`. */
export const redirect = (location: string): Reply => ({
  status: 302,
  headers: [
    ["content-type", "text/plain"],
    ["location", location]
  ],
  body: "Found"
})

export const tooLarge = (limit: number): Reply => failure(413, `The request body is larger than ${limit} bytes`)

const retryAfterSeconds = 5
const later = (detail: string): Reply => ({
  ...failure(503, detail),
  headers: [...jsonHeaders, ["retry-after", String(retryAfterSeconds)]]
})
export const timedOut = later("The request timed out")
export const shuttingDown = later(SHUTTING_DOWN)
