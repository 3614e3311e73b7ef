/** The one file in a form, as it streams in: what is before it is skipped, what comes after it must not be another file. */
import { Effect, Result, Stream } from "effect"
import { FormInvalid } from "./Refusal.ts"

const maxHeaderBytes = 16_384
/** Each is looked at by itself, and a megabyte has room for twenty thousand. */
const maxParts = 100

/** Undefined when the media type is no form, or names no boundary. */
export const boundaryOf = (contentType: string): string | undefined => {
  const [, quoted, plain] = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  return quoted ?? plain
}

export const fileOf = <E>(form: Stream.Stream<Uint8Array, E>, boundary: string): Stream.Stream<Uint8Array, E | FormInvalid> =>
  Stream.suspend(() => {
    const reader = new FormReader(boundary)
    const pushed = form.pipe(Stream.mapEffect((chunk) => Effect.fromResult(reader.push(chunk))))
    const last = Stream.fromEffect(Effect.suspend(() => Effect.fromResult(reader.end())))
    return Stream.concat(pushed, last).pipe(Stream.flatMap(Stream.fromIterable))
  })

type Pieces = Result.Result<ReadonlyArray<Uint8Array>, FormInvalid>
const invalid: Pieces = Result.fail(new FormInvalid())

class FormReader {
  private readonly delimiter: Buffer
  /** Not yet understood. A line end before it, so that the first delimiter looks like all others. */
  private rest: Buffer = Buffer.from("\r\n")
  private place: "before" | "headers" | "file" | "field" | "after" = "before"
  private files = 0
  private parts = 0

  constructor(boundary: string) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  push(chunk: Uint8Array): Pieces {
    this.rest = Buffer.concat([this.rest, chunk])
    const pieces: Array<Uint8Array> = []
    while (true) {
      const step = this.place === "headers" ? this.headers() : this.part(pieces)
      if (step === "more") return Result.succeed(pieces)
      if (step === "invalid") return invalid
    }
  }

  end(): Pieces {
    return this.place === "after" && this.files === 1 ? Result.succeed([]) : invalid
  }

  /** Up to the next delimiter; the last bytes may be its beginning, and wait. */
  private part(pieces: Array<Uint8Array>): "next" | "more" | "invalid" {
    if (this.place === "after") {
      this.rest = Buffer.alloc(0)
      return "more"
    }
    const at = this.rest.indexOf(this.delimiter)
    const end = at < 0 ? Math.max(0, this.rest.length - this.delimiter.length) : at
    if (this.place === "file" && end > 0) pieces.push(this.rest.subarray(0, end))
    if (at < 0) {
      this.rest = this.rest.subarray(end)
      return "more"
    }
    const after = at + this.delimiter.length
    if (this.rest.length < after + 2) {
      this.rest = this.rest.subarray(at)
      return "more"
    }
    const mark = this.rest.toString("latin1", after, after + 2)
    this.rest = this.rest.subarray(after + 2)
    this.place = mark === "--" ? "after" : "headers"
    return mark === "--" || mark === "\r\n" ? "next" : "invalid"
  }

  private headers(): "next" | "more" | "invalid" {
    const end = this.rest.indexOf("\r\n\r\n")
    if (end < 0) return this.rest.length > maxHeaderBytes ? "invalid" : "more"
    const isFile = /^content-disposition:.*;\s*filename\*?=/im.test(this.rest.toString("latin1", 0, end))
    // The line end stays: the delimiter of an empty part begins with it.
    this.rest = this.rest.subarray(end + 4)
    this.place = isFile ? "file" : "field"
    this.parts++
    if (isFile) this.files++
    return this.files > 1 || this.parts > maxParts ? "invalid" : "next"
  }
}
