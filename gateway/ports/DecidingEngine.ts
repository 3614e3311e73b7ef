/**
 * Port: the engine that decides, if that is another one. Every engine serves the whole API: what only reads it answers itself, everything else is
 * passed to the engine that decides, whose answer it returns.
 */
import { Context, Effect, Schema, Stream } from "effect"
import type { Asked, Method, Reply } from "#gateway/http/Endpoint.ts"

/** Names the client of a request that another engine passes on; only an engine can write it. */
export const PASSED_BY = "x-trunkline-passed-by"

/** `path` includes the query. */
export interface PassedRequest extends Pick<Asked, "bytes" | "client" | "headers" | "id" | "stream"> {
  readonly method: Method
  readonly path: string
  readonly body: "none" | "bytes" | "stream"
}

export type PassedSocket = Pick<PassedRequest, "client" | "headers" | "id" | "path">

/** The other engine has closed the socket, or cannot be reached. */
export class SocketEnded extends Schema.TaggedError<SocketEnded>()("SocketEnded", { code: Schema.Int, reason: Schema.String }) {}

export const DecidingEngine = Context.Reference<{
  /** Whether this engine decides. */
  readonly isHere: () => boolean
  /** Whether this engine may answer what only reads. */
  readonly mayRead: () => boolean
  /** The other engine's answer; undefined: meanwhile this engine decides. */
  readonly pass: (request: PassedRequest) => Effect.Effect<Reply | undefined>
  /** What the other engine sends on a websocket. */
  readonly follow: (request: PassedSocket) => Stream.Stream<string, SocketEnded>
  /** The address of the client that another engine has named; undefined if it is no engine that says so. */
  readonly clientOf: (passedBy: string, requestId: string) => string | undefined
}>("gateway/ports/DecidingEngine", {
  defaultValue: () => ({
    clientOf: () => undefined,
    follow: () => Stream.empty,
    isHere: () => true,
    mayRead: () => true,
    pass: () => Effect.succeed(undefined)
  })
})
