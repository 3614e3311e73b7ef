/** A failed request to the bucket, described by its code alone: the rest of the response may quote keys and signatures. */
import { Schema } from "effect"

/** Our own codes, in addition to those of S3 and the operating system. */
export const timedOut = "TimedOut"
export const truncated = "Truncated"
export const noSuchBucket = "NoSuchBucket"
export const noSuchUpload = "NoSuchUpload"

const passingStatus = (status: number): boolean => status >= 500 || status === 408 || status === 429

export class S3Failure extends Schema.TaggedError<S3Failure>()("S3Failure", {
  /** Undefined if there was no complete response. */
  status: Schema.UndefinedOr(Schema.Int),
  /** As named by S3 or the operating system, such as `SlowDown` or `ECONNREFUSED`. */
  code: Schema.String
}) {
  override get message(): string {
    return this.code
  }
  /** Whether the same request may succeed later without any intervention. */
  get isPassing(): boolean {
    return this.status === undefined || passingStatus(this.status)
  }
  /** Whether only this object is affected: the trouble lies neither with the bucket nor with the access key. */
  get isOfObject(): boolean {
    return this.isMissing || [400, 411, 412, 413].includes(this.status ?? 0)
  }
  get isMissing(): boolean {
    return this.status === 404 && this.code !== noSuchBucket
  }
}

const aCode = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/

/** `body` is the XML of an error; empty in the response to HEAD. */
export const failureOf = (status: number, body: string): S3Failure =>
  new S3Failure({ status, code: aCode.exec(body)?.[1] ?? `HTTP${status}` })

/** The response to some requests starts before they are carried out: the status is 200, and the body reports the failure. */
export const lateFailure = (body: string): S3Failure | undefined => (/<Error[\s>]/.test(body) ? failureOf(500, body) : undefined)

/** The failure reported by the socket. */
export const brokenBy = (cause: unknown): S3Failure => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "Broken"
  return new S3Failure({ status: undefined, code })
}
