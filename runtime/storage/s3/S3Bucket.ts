/**
 * The operations on objects of one bucket, as defined by the S3 REST API. Temporary failures are retried a few times, with pauses; every
 * operation can safely be repeated. Files are streamed, large ones in parts, so memory does not depend on their size.
 */
import { Duration, Effect, Schedule, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import type { S3Address } from "#runtime/config/S3Address.ts"
import { brokenBy, lateFailure, noSuchBucket, noSuchUpload, S3Failure, truncated } from "./S3Failure.ts"
import { makeSend, type S3Ask, type S3Keys, type Send, textOf } from "./S3Request.ts"

/** S3 requires at least 5 MiB for every part but the last, and accepts 10,000 parts: 80 GiB. */
const partBytes = 8 * 1024 * 1024
const singleBytes = 16 * 1024 * 1024
const retries = 2
const pauses = Schedule.max([Schedule.exponential("200 millis"), Schedule.recurs(retries)]).pipe(Schedule.jittered)
const LONGEST_ABORT = "5 seconds"
const betweenReads = Duration.millis(300)

interface S3Object {
  readonly bytes: number
  readonly modifiedAt: number
  /** Changes with the content. */
  readonly etag: string
}

export interface S3Bucket {
  readonly head: (key: string) => Effect.Effect<S3Object, S3Failure>
  /**
   * Reads from byte `from` up to, but not including, byte `until`. A broken read resumes where it stopped, as long as the object is unchanged.
   */
  readonly read: (key: string, from: number, until: number, etag: string) => Stream.Stream<Uint8Array, S3Failure>
  /** Stores a local file, replacing any existing object: a reader sees all of it or nothing. */
  readonly put: (key: string, path: string, bytes: number) => Effect.Effect<void, S3Failure>
  /** Succeeds if there is no such object. */
  readonly remove: (key: string) => Effect.Effect<void, S3Failure>
  /** Stores an object, and deletes it again. */
  readonly probe: (key: string) => Effect.Effect<void, S3Failure>
}

/** Sends, reads the body as text, and retries temporary failures. */
const makeTold = (send: Send) => (ask: S3Ask) =>
  Effect.gen(function* () {
    const answer = yield* send(ask)
    const text = yield* textOf(answer)
    const failure = lateFailure(text)
    return failure === undefined ? { text, headers: answer.headers } : yield* failure
  }).pipe(Effect.scoped, again)

const again = <A>(ask: Effect.Effect<A, S3Failure>) =>
  Effect.retry(ask, ($) => $(pauses).pipe(Schedule.while(({ input }) => input.isPassing)))

export const openBucket = Effect.fnUntraced(function* (address: S3Address, keys: S3Keys) {
  const send = yield* makeSend(keys, address.region)
  const told = makeTold(send)
  const urlOf = (key: string): string => address.base + address.prefix + key
  // The response to HEAD has no body to say which is missing, the object or the bucket.
  const isThere = told({ method: "HEAD", url: address.base }).pipe(
    Effect.mapError((failure) => (failure.isMissing ? new S3Failure({ status: 404, code: noSuchBucket }) : failure))
  )

  const bucket: S3Bucket = {
    head: Effect.fn("S3Bucket.head")(function* (key) {
      const { headers } = yield* told({ method: "HEAD", url: urlOf(key) }).pipe(
        Effect.catchIf(
          (failure) => failure.isMissing,
          (failure) => Effect.andThen(isThere, failure)
        )
      )
      return { bytes: Number(headers["content-length"]), modifiedAt: Date.parse(headers["last-modified"] ?? ""), etag: headers.etag ?? "" }
    }),
    read: (key, from, until, etag) => readFrom(send, { url: urlOf(key), etag, until }, from, retries),
    put: Effect.fn("S3Bucket.put")((key, path, bytes) =>
      bytes <= singleBytes
        ? Effect.asVoid(told({ method: "PUT", url: urlOf(key), body: { path, from: 0, until: bytes } }))
        : putInParts(told, urlOf(key), path, bytes).pipe(
            // It may have completed and the reply been lost: starting over once settles that.
            Effect.retry({ times: 1, while: ({ code }) => code === noSuchUpload })
          )
    ),
    remove: Effect.fn("S3Bucket.remove")((key) =>
      told({ method: "DELETE", url: urlOf(key) }).pipe(
        Effect.catchIf(
          (failure) => failure.isMissing,
          () => Effect.void
        ),
        Effect.asVoid
      )
    ),
    probe: Effect.fn("S3Bucket.probe")((key) =>
      Effect.andThen(told({ method: "PUT", url: urlOf(key), body: "probe" }), Effect.asVoid(told({ method: "DELETE", url: urlOf(key) })))
    )
  }
  return bucket
})

interface Wanted {
  readonly url: string
  readonly etag: string
  readonly until: number
}

const readFrom = (send: Send, wanted: Wanted, from: number, left: number): Stream.Stream<Uint8Array, S3Failure> =>
  Stream.suspend(() => {
    let at = from
    const { etag, until, url } = wanted
    if (from >= until) return Stream.empty
    const ask: S3Ask = { method: "GET", url, headers: { range: `bytes=${from}-${until - 1}`, "if-match": etag } }
    const pieces = Effect.map(send(ask), (answer) =>
      Stream.fromAsyncIterable<Uint8Array, S3Failure>(partOf(answer, until - from), readFailure)
    )
    return Stream.unwrap(pieces).pipe(
      Stream.map((piece) => {
        at += piece.byteLength
        return piece
      }),
      Stream.catch((failure) => {
        const tries = at > from ? retries : left
        if (!failure.isPassing || tries === 0) return Stream.fail(failure)
        return Stream.unwrap(
          Effect.delay(
            Effect.sync(() => readFrom(send, wanted, at, tries - 1)),
            betweenReads
          )
        )
      })
    )
  })

const readFailure = (cause: unknown): S3Failure => (cause instanceof S3Failure ? cause : brokenBy(cause))

/** Fails unless there are exactly this many bytes: a proxy may end a body early, and some servers ignore ranges. */
async function* partOf(answer: IncomingMessage, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes
  // Cast: without an encoding, a response stream consists of buffers.
  for await (const piece of answer as AsyncIterable<Buffer>) {
    left -= piece.byteLength
    if (left < 0) throw new S3Failure({ status: 400, code: "RangeIgnored" })
    yield piece
  }
  if (left > 0) throw new S3Failure({ status: undefined, code: truncated })
}

type Told = ReturnType<typeof makeTold>

const putInParts = Effect.fnUntraced(function* (told: Told, url: string, path: string, bytes: number) {
  const begun = yield* told({ method: "POST", url: `${url}?uploads=` })
  const id = /<UploadId>([^<]+)<\/UploadId>/.exec(begun.text)?.[1]
  if (id === undefined) return yield* new S3Failure({ status: 400, code: "UploadIdMissing" })
  const upload = `uploadId=${encodeURIComponent(unescaped(id))}`
  const sent = Effect.gen(function* () {
    const parts: Array<string> = []
    for (let from = 0; from < bytes; from += partBytes) {
      const number = parts.length + 1
      const body = { path, from, until: Math.min(bytes, from + partBytes) }
      const { headers } = yield* told({ method: "PUT", url: `${url}?partNumber=${number}&${upload}`, body })
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${headers.etag ?? ""}</ETag></Part>`)
    }
    yield* told({ method: "POST", url: `${url}?${upload}`, body: `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>` })
  })
  // The bucket charges for parts until the upload is aborted. If the process is killed, that is left to the bucket's lifecycle rule.
  yield* Effect.onError(sent, () => Effect.ignore(Effect.timeout(told({ method: "DELETE", url: `${url}?${upload}` }), LONGEST_ABORT)))
})

const unescaped = (xml: string): string =>
  xml.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&amp;", "&")
