/** A long text that stays the same for as long as the process runs, such as a script of the documentation page: compressed once, for all who ask. */
import { Effect } from "effect"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

export class Lasting {
  readonly plain: Uint8Array
  readonly gzipped: Uint8Array

  constructor(plain: Uint8Array, gzipped: Uint8Array) {
    this.plain = plain
    this.gzipped = gzipped
  }
}

const compress = promisify(gzip)

/** Reads the text when it is first asked for. A failure is a defect, and the next one who asks tries again. */
export const lasting = (read: () => Promise<string | Uint8Array>): Effect.Effect<Lasting> => {
  let made: Promise<Lasting> | undefined
  const make = async () => {
    const plain = Buffer.from(await read())
    return new Lasting(plain, await compress(plain))
  }
  const forget = (error: unknown): never => {
    made = undefined
    throw error
  }
  return Effect.promise(() => (made ??= make().catch(forget)))
}

/** Whether an `Accept-Encoding` header takes gzip. */
export const takesGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((coding) => /^\s*(?:x-)?gzip\s*(?:;\s*q\s*=\s*(?:1(?:\.0*)?|0?\.0*[1-9]\d*)\s*)?$/i.test(coding))
