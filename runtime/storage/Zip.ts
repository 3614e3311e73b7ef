/**
 * Reads files out of a ZIP archive, as far as workbooks need it: stored or deflated, not encrypted, smaller than 4 GiB. A small archive can hold
 * terabytes, so whatever is read is counted as it is decompressed, and all of it together has a limit.
 */
import { crc32, createInflateRaw } from "node:zlib"

/** Why an archive cannot be read, in words. */
export class ZipFault extends Error {}

interface Entry {
  readonly method: number
  readonly crc: number
  readonly compressedBytes: number
  readonly headerAt: number
}

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const fileSignature = 0x04034b50
const endBytes = 22
const mostComment = 65_535
/** More than any workbook of one sheet or a hundred has. */
const mostEntries = 10_000
const isEncrypted = 1
const stored = 0
const deflated = 8

export class Zip {
  private readonly bytes: Buffer
  private readonly entries: ReadonlyMap<string, Entry>
  private bytesLeft: number

  /** `mostBytes`: how much may be decompressed in all. Throws `ZipFault`. */
  constructor(bytes: Buffer, mostBytes: number) {
    this.bytes = bytes
    this.bytesLeft = mostBytes
    this.entries = within(() => entriesOf(bytes))
  }

  has(name: string): boolean {
    return this.entries.has(name)
  }

  /** The content, part by part. Throws `ZipFault`. */
  async *read(name: string): AsyncGenerator<Buffer, void> {
    const entry = this.entries.get(name)
    if (entry === undefined) throw new ZipFault(`it has no part '${name}'`)
    const content = within(() => contentOf(this.bytes, entry))
    let crc = 0
    for await (const part of partsOf(content, entry.method)) {
      this.bytesLeft -= part.byteLength
      if (this.bytesLeft < 0) throw new ZipFault("it is too large once it is decompressed")
      crc = crc32(part, crc)
      yield part
    }
    if (crc !== entry.crc) throw new ZipFault("it is damaged")
  }
}

/** Reading past the end of a buffer throws a `RangeError`. */
const within = <A>(read: () => A): A => {
  try {
    return read()
  } catch (error) {
    throw error instanceof RangeError ? new ZipFault("it is cut off") : error
  }
}

const entriesOf = (bytes: Buffer): ReadonlyMap<string, Entry> => {
  const end = bytes.subarray(Math.max(0, bytes.length - endBytes - mostComment))
  const at = end.lastIndexOf(Buffer.from(Uint32Array.of(endSignature).buffer))
  if (at < 0) throw new ZipFault("it is cut off")
  const entries = new Map<string, Entry>()
  const count = end.readUInt16LE(at + 10)
  if (count > mostEntries) throw new ZipFault("it has too many parts")
  let place = end.readUInt32LE(at + 16)
  for (let index = 0; index < count; index++) {
    if (bytes.readUInt32LE(place) !== entrySignature) throw new ZipFault("it is damaged")
    if ((bytes.readUInt16LE(place + 8) & isEncrypted) !== 0) throw new ZipFault("it is encrypted")
    const [nameBytes, ...rest] = [28, 30, 32].map((offset) => bytes.readUInt16LE(place + offset))
    const name = bytes.toString("utf8", place + 46, place + 46 + (nameBytes ?? 0))
    if (entries.has(name)) throw new ZipFault(`it has two parts '${name}'`)
    entries.set(name, {
      method: bytes.readUInt16LE(place + 10),
      crc: bytes.readUInt32LE(place + 16),
      compressedBytes: bytes.readUInt32LE(place + 20),
      headerAt: bytes.readUInt32LE(place + 42)
    })
    place += rest.reduce((all, one) => all + one, 46 + (nameBytes ?? 0))
  }
  return entries
}

const contentOf = (bytes: Buffer, { compressedBytes, headerAt }: Entry): Buffer => {
  if (bytes.readUInt32LE(headerAt) !== fileSignature) throw new ZipFault("it is damaged")
  const from = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28)
  if (from + compressedBytes > bytes.length) throw new ZipFault("it is cut off")
  return bytes.subarray(from, from + compressedBytes)
}

async function* partsOf(content: Buffer, method: number): AsyncGenerator<Buffer, void> {
  if (method === stored) return yield content
  if (method !== deflated) throw new ZipFault("it is compressed in an unknown way")
  const inflate = createInflateRaw()
  inflate.end(content)
  try {
    for await (const part of inflate) yield part
  } catch (error) {
    throw error instanceof Error && "code" in error && String(error.code).startsWith("Z_") ? new ZipFault("it is damaged") : error
  }
}
