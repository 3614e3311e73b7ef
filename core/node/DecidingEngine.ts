/**
 * Port: the engine that decides, if that is another one. Every engine serves the whole API: what only reads it answers itself, everything else is
 * passed to the engine that decides, whose answer it returns.
 */
import { Context, Effect, Schema, Stream } from "effect"

/** A header that names the client of a request that another engine passes on; only an engine can write it. */
export const PASSED_BY = "x-trunkline-passed-by"
/** The detail of the answer of an engine that is ending, which has not looked at the request. */
export const SHUTTING_DOWN = "The service is shutting down"

export interface PassedSocket {
  readonly id: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The client's address. */
  readonly address: string
}

export interface PassedRequest extends PassedSocket {
  readonly method: string
  readonly body: Uint8Array | Stream.Stream<Uint8Array, unknown>
}

export interface PassedReply {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** A long one is passed along as it comes; `bytes` is undefined if its length is not known. */
  readonly body: string | { readonly bytes: number | undefined; readonly stream: Stream.Stream<Uint8Array, unknown> }
}

/**
 * - `Here`: meanwhile this engine decides.
 * - `Lost`: the other engine may or may not have carried it out.
 * - `Nobody`: it has not left, because no engine decides.
 */
export type Passage = { readonly _tag: "Answered"; readonly reply: PassedReply } | { readonly _tag: "Here" | "Lost" | "Nobody" }

/** The other engine has closed the socket, or cannot be reached. */
export class SocketEnded extends Schema.TaggedError<SocketEnded>()("SocketEnded", { code: Schema.Int, reason: Schema.String }) {}

export const DecidingEngine = Context.Reference<{
  /** Whether this engine decides. */
  readonly isHere: () => boolean
  /** Whether this engine may answer what only reads. */
  readonly mayRead: () => boolean
  /** Whether this engine hears what is said in the calls of all engines. */
  readonly mayWatch: () => boolean
  readonly pass: (request: PassedRequest) => Effect.Effect<Passage>
  /** What the other engine sends on a websocket. `said`: what the client sends, once the other engine has accepted it. */
  readonly follow: (socket: PassedSocket, said?: Stream.Stream<string>) => Stream.Stream<string, SocketEnded>
  /** The address of the client that another engine has named; undefined if it is no engine that says so. */
  readonly clientOf: (passedBy: string, requestId: string) => string | undefined
}>("core/node/DecidingEngine", {
  defaultValue: () => ({
    clientOf: () => undefined,
    follow: () => Stream.empty,
    isHere: () => true,
    mayRead: () => true,
    mayWatch: () => true,
    pass: () => Effect.succeed({ _tag: "Here" })
  })
})
