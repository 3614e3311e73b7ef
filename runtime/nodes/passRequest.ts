/** Passes a client's request to another engine. */
import { Effect, Exit, Schema, Stream } from "effect"
import { type ClientRequest, type IncomingMessage, request as open } from "node:http"
import { PASSED_BY, type PassedReply, type PassedRequest } from "#core/node/DecidingEngine.ts"
import { hostHeader } from "#runtime/call/passOn.ts"
import type { EnginePlace } from "#runtime/lock/EnginePlace.ts"

/** An engine on the same network accepts a connection within milliseconds; one on a dead machine never does. */
const CONNECT_MILLIS = 2000
/** A longer answer, such as a recording, or one that may never end, such as events, is not collected first. */
const COLLECTED_BYTES = 262_144
/** How long a long answer may wait for its reader, who may have gone. */
const UNREAD_MILLIS = 30_000

/** Nothing of the request has reached the other engine. */
class NotSent extends Schema.TaggedError<NotSent>()("NotSent", { why: Schema.String }) {}
/** The other engine may or may not have carried it out. */
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { why: Schema.String }) {}

/** `passedBy`: what names the client. Without a time limit of its own: the gateway has one. */
export const passRequest = (
  place: EnginePlace,
  request: PassedRequest,
  passedBy: string
): Effect.Effect<PassedReply, NotSent | Unanswered> =>
  Effect.acquireUseRelease(
    connected(place, request, passedBy),
    (sent) => {
      // Whoever sent too much has been told by the gateway; the answer may come before the body is complete.
      const sending = Effect.andThen(Effect.ignore(written(sent, request)), Effect.never)
      return Effect.raceFirst(answered(sent), sending)
    },
    (sent, exit) => (Exit.isSuccess(exit) && typeof exit.value.body !== "string" ? Effect.void : Effect.sync(() => void sent.destroy()))
  )

/** On a connection of its own: one that is kept open may have been closed by the other engine when the request leaves. */
const connected = (place: EnginePlace, { body, headers, id, method, path }: PassedRequest, passedBy: string) =>
  Effect.callback<ClientRequest, NotSent>((resume) => {
    const length = body instanceof Uint8Array ? { "content-length": body.byteLength } : {}
    const own = { ...hostHeader, ...length, [PASSED_BY]: passedBy, "x-request-id": id }
    const sent = open({ ...place, agent: false, headers: { ...headers, ...own }, method, path })
    const late = setTimeout(() => sent.destroy(new Error("no engine there")), CONNECT_MILLIS)
    // Stays, so that an error that comes before anybody else listens is not thrown.
    sent.on("error", ({ message }) => {
      clearTimeout(late)
      resume(Effect.fail(new NotSent({ why: message })))
    })
    sent.once("socket", (socket) =>
      socket.once("connect", () => {
        clearTimeout(late)
        resume(Effect.succeed(sent))
      })
    )
  })

const written = (sent: ClientRequest, { body }: PassedRequest): Effect.Effect<void, unknown> =>
  body instanceof Uint8Array
    ? Effect.sync(() => void sent.end(body))
    : Effect.andThen(
        Stream.runForEach(body, (chunk) => piece(sent, chunk)),
        Effect.sync(() => void sent.end())
      )

/** Returns once there is room for more. */
const piece = (sent: ClientRequest, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (sent.write(chunk)) resume(Effect.void)
    else sent.once("drain", () => resume(Effect.void))
  })

const answered = (sent: ClientRequest): Effect.Effect<PassedReply, Unanswered> =>
  Effect.callback((resume) => {
    const lost = (error: Error) => resume(Effect.fail(new Unanswered({ why: error.message })))
    if (sent.errored !== null) return lost(sent.errored)
    sent.once("error", lost)
    sent.once("response", (response) => {
      const told = response.headers["content-length"]
      const bytes = told === undefined ? undefined : Number(told)
      if (bytes === undefined || bytes > COLLECTED_BYTES) {
        resume(Effect.succeed(replyOf(response, { bytes, stream: following(response) })))
        return
      }
      const chunks: Array<Buffer> = []
      response.on("error", lost).on("data", (chunk: Buffer) => void chunks.push(chunk))
      response.once("end", () => resume(Effect.succeed(replyOf(response, Buffer.concat(chunks).toString()))))
    })
  })

/** What comes, as fast as it is read. */
const following = (response: IncomingMessage): Stream.Stream<Uint8Array, unknown> => {
  // Stays, so that an error that comes before anybody reads is not thrown.
  response.on("error", () => {})
  const unread = setTimeout(() => response.destroy(), UNREAD_MILLIS)
  return Stream.fromAsyncIterable<Uint8Array, unknown>(response, (error) => error).pipe(
    Stream.onStart(Effect.sync(() => clearTimeout(unread))),
    Stream.ensuring(Effect.sync(() => void response.destroy()))
  )
}

/** Every answer of this engine has these anyway, or they concern the connection alone. */
const ownHeaders = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "cache-control",
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "referrer-policy",
  "transfer-encoding",
  "uwebsockets",
  "vary",
  "x-content-type-options",
  "x-frame-options",
  "x-request-id"
])

const replyOf = ({ rawHeaders, statusCode = 502 }: IncomingMessage, body: PassedReply["body"]): PassedReply => {
  const headers: Array<readonly [string, string]> = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2)
    if (!ownHeaders.has(name.toLowerCase())) headers.push([name.toLowerCase(), value])
  }
  return { body, headers, status: statusCode }
}
