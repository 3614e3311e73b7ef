/** A request to the bucket that has failed, told by its code alone: the rest of the answer may quote keys and signatures. */
import { Schema } from "effect"

/** Codes of our own, beside those of S3 and of the operating system. */
export const timedOut = "TimedOut"
export const truncated = "Truncated"
export const noSuchBucket = "NoSuchBucket"
export const noSuchUpload = "NoSuchUpload"

const passingStatus = (status: number): boolean => status >= 500 || status === 408 || status === 429

export class S3Failure extends Schema.TaggedError<S3Failure>()("S3Failure", {
  /** Undefined: there was no whole answer. */
  status: Schema.UndefinedOr(Schema.Int),
  /** As S3 or the operating system names it, such as `SlowDown` or `ECONNREFUSED`. */
  code: Schema.String
}) {
  override get message(): string {
    return this.code
  }
  /** Whether the same request may succeed later, without anybody's doing. */
  get isPassing(): boolean {
    return this.status === undefined || passingStatus(this.status)
  }
  /** Whether other objects fare better: the trouble is not the bucket's or the key's. */
  get isOfObject(): boolean {
    return this.isMissing || [400, 411, 412, 413].includes(this.status ?? 0)
  }
  get isMissing(): boolean {
    return this.status === 404 && this.code !== noSuchBucket
  }
}

const aCode = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/

/** `body` is the XML of an error; empty in the answer to HEAD. */
export const failureOf = (status: number, body: string): S3Failure =>
  new S3Failure({ status, code: aCode.exec(body)?.[1] ?? `HTTP${status}` })

/** Some requests begin to be answered before they are carried out: their status is 200, and the body tells of the failure. */
export const lateFailure = (body: string): S3Failure | undefined => (/<Error[\s>]/.test(body) ? failureOf(500, body) : undefined)

/** What the socket says. */
export const brokenBy = (cause: unknown): S3Failure => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "Broken"
  return new S3Failure({ status: undefined, code })
}
