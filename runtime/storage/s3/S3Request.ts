/** Signs a request to the bucket, sends it, and returns the response as soon as its head has arrived. One attempt; nothing is remembered. */
import { Effect, Redacted, type Scope } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { Readable } from "node:stream"
import { brokenBy, failureOf, S3Failure, timedOut } from "./S3Failure.ts"

/** A connection without any traffic for this long is closed. */
const STILL_MILLIS = 10_000
const mostSockets = 32
/** Errors and the other documents we read are much shorter. */
const mostText = 64 * 1024

export interface S3Keys {
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken: Redacted.Redacted | undefined
}

/** A file, a part of one, or a short text. */
type S3Body = string | { readonly path: string; readonly from: number; readonly until: number }

export interface S3Ask {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: S3Body
}

export type Send = (ask: S3Ask) => Effect.Effect<IncomingMessage, S3Failure, Scope.Scope>

const bytesOf = (body: S3Body): number => (typeof body === "string" ? Buffer.byteLength(body) : body.until - body.from)

const readerOf = (body: S3Body): Readable =>
  typeof body === "string"
    ? Readable.from([Buffer.from(body)])
    : body.until === body.from
      ? Readable.from([])
      : createReadStream(body.path, { start: body.from, end: body.until - 1 })

/** Piece by piece, because hashing a whole part at once would hold up the thread that paces audio. */
const digestOf = (body: S3Body) => {
  if (typeof body === "string") return Effect.succeed(createHash("sha256").update(body).digest("hex"))
  return Effect.tryPromise({
    try: async () => {
      const hash = createHash("sha256")
      for await (const piece of readerOf(body)) hash.update(piece)
      return hash.digest("hex")
    },
    catch: brokenBy
  })
}

/** The connections close with the scope. */
export const makeSend = Effect.fnUntraced(function* (keys: S3Keys, region: string) {
  const agents = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const options = { keepAlive: true, maxSockets: mostSockets }
      return { http: new HttpAgent(options), https: new HttpsAgent(options) }
    }),
    ({ http, https }) =>
      Effect.sync(() => {
        http.destroy()
        https.destroy()
      })
  )
  // Loaded only for a bucket. In the build, a module loaded like this must import none of ours, or all of them would have to be prepared for it.
  const { AwsV4Signer } = yield* Effect.promise(() => import("aws4fetch"))
  const cache = new Map<string, ArrayBuffer>()
  const sign = Effect.fnUntraced(function* ({ body = "", headers = {}, method, url }: S3Ask) {
    const signed = new AwsV4Signer({
      method,
      url,
      headers: { ...headers, "x-amz-content-sha256": yield* digestOf(body) },
      accessKeyId: Redacted.value(keys.accessKeyId),
      secretAccessKey: Redacted.value(keys.secretAccessKey),
      ...(keys.sessionToken === undefined ? {} : { sessionToken: Redacted.value(keys.sessionToken) }),
      service: "s3",
      region,
      cache
    })
    const made = yield* Effect.tryPromise({ try: () => signed.sign(), catch: brokenBy })
    return Object.fromEntries(made.headers)
  })
  const send: Send = Effect.fnUntraced(function* (ask) {
    const headers = yield* sign(ask)
    const answer = yield* exchanged(ask, headers, agents)
    const status = answer.statusCode ?? 0
    if (status >= 200 && status < 300) return answer
    return yield* failureOf(status, ask.method === "HEAD" ? "" : yield* textOf(answer))
  })
  return send
})

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** The response is cut off when the scope closes, unless it has been read. */
const exchanged = (ask: S3Ask, headers: Record<string, string>, agents: Agents) =>
  Effect.acquireRelease(
    Effect.callback<IncomingMessage, S3Failure>((resume) => {
      const { body = "", method, url } = ask
      const isSecure = url.startsWith("https:")
      const sent = (isSecure ? httpsRequest : httpRequest)(url, {
        method,
        agent: isSecure ? agents.https : agents.http,
        headers: { ...headers, "content-length": bytesOf(body) },
        timeout: STILL_MILLIS
      })
      const given = readerOf(body)
      sent.on("timeout", () => sent.destroy(new S3Failure({ status: undefined, code: timedOut })))
      sent.on("response", (answer) => resume(Effect.succeed(answer)))
      // Later errors belong to the response, and are reported to its reader.
      sent.on("error", (cause) => {
        given.destroy()
        resume(Effect.fail(cause instanceof S3Failure ? cause : brokenBy(cause)))
      })
      given.on("error", (cause) => sent.destroy(cause))
      given.pipe(sent)
      return Effect.sync(() => {
        given.destroy()
        sent.destroy()
      })
    }),
    (answer) => Effect.sync(() => answer.destroy()),
    { interruptible: true }
  )

/** The body of a short response. */
export const textOf = (answer: IncomingMessage): Effect.Effect<string, S3Failure> =>
  Effect.tryPromise({
    try: async () => {
      let text = ""
      for await (const piece of answer.setEncoding("utf8")) if (text.length < mostText) text += piece
      return text
    },
    catch: (cause) => (cause instanceof S3Failure ? cause : brokenBy(cause))
  })
