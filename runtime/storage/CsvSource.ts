/**
 * Reads uploaded lists of contacts as a stream: bytes to text to cells. A file with invalid text is refused, and the refusal names the row.
 * Nothing is guessed or replaced. Only a few hundred records are in memory at a time. A workbook, whatever it is called, yields the same records.
 */
import { CsvError, parse, type Parser } from "csv-parse"
import { Effect, Layer } from "effect"
import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { finished } from "node:stream/promises"
import { TextDecoder } from "node:util"
import { ContactSource, SourceNotFound, SourceRefused } from "#core/contact/ContactSource.ts"
import { maxFileBytes } from "#core/contact/ContactCsv.ts"
import { layoutOf, TextFormulas } from "#core/contact/CsvLayout.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { Files } from "./Files.ts"
import { beginningBytes, isOldWorkbook, isWorkbook, oldWorkbook, workbookRecords } from "./Workbook.ts"

/** Processing one chunk blocks the event loop for a few milliseconds. */
const chunkBytes = 16 * 1024
/** Room for more than a hundred of the longest cells. Limits how much an unclosed quote can swallow. */
const maxRecordLength = 1024 * 1024
/** A decoder writes this in place of bytes it cannot decode. If the file itself contains it, an earlier decoder failed. */
const replacement = "\ufffd"

export const layer = Layer.effect(
  ContactSource,
  Effect.gen(function* () {
    const uploads = yield* Uploads
    const files = yield* Files
    return ContactSource.of({
      read: Effect.fn("CsvSource.read")(function* (organizationId, sourceId) {
        const { key, sizeBytes } = yield* uploads.find(organizationId, sourceId)
        if (sizeBytes > maxFileBytes) return yield* tooLarge()
        const notFound = new SourceNotFound({ sourceId })
        const path = yield* Effect.mapError(files.localCopy(key), (error) => (error._tag === "FilesAway" ? error : notFound))
        const file = yield* Effect.acquireRelease(Effect.tryPromise({ try: () => open(path), catch: () => notFound }), (file) =>
          Effect.promise(() => file.close())
        )
        const list = yield* Effect.tryPromise({ try: () => listIn(file), catch: (error) => error }).pipe(Effect.catch(refusedOrDead))
        yield* Effect.addFinalizer(() => Effect.promise(async () => list.end?.()))
        // Half a megabyte of every country's numbers, which an engine that imports nothing does not need.
        const { numberingPlan } = yield* Effect.promise(() => import("#runtime/telephony/numberingPlan.ts"))
        return {
          plan: numberingPlan,
          next: Effect.tryPromise({ try: () => list.next(), catch: (error) => error }).pipe(Effect.catch(refusedOrDead)),
          hash: Effect.sync(() => list.hash.digest("hex")),
          keep: uploads.use(organizationId, sourceId)
        }
      })
    })
  })
)

const refusedOrDead = (error: unknown) => (error instanceof SourceRefused ? Effect.fail(error) : Effect.die(error))

interface ListFile {
  readonly hash: Hash
  /** Empty at the end, and only then. */
  readonly next: () => Promise<ReadonlyArray<ReadonlyArray<string>>>
  /** Nothing more is read. */
  readonly end?: () => Promise<unknown>
}

/** Throws `SourceRefused`. */
const listIn = async (file: FileHandle): Promise<ListFile> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(beginningBytes), 0, beginningBytes, 0)
  const beginning = buffer.subarray(0, bytesRead)
  if (isOldWorkbook(beginning)) throw oldWorkbook()
  if (!isWorkbook(beginning)) return new CsvFile(file)
  if ((await file.stat()).size > maxFileBytes) throw tooLarge()
  const bytes = await file.readFile()
  const records = workbookRecords(bytes)
  return { hash: createHash("sha256").update(bytes), next: async () => (await records.next()).value ?? [], end: () => records.return() }
}

const refused = (what: string) => new SourceRefused({ reason: `Invalid CSV format: ${what}` })

const tooLarge = () => new SourceRefused({ reason: `CSV file is larger than ${maxFileBytes} bytes` })

/** Throws `SourceRefused`. */
class CsvFile implements ListFile {
  readonly hash = createHash("sha256")
  private readonly file: FileHandle
  private readonly buffer = Buffer.allocUnsafe(chunkBytes)
  private bytes = 0
  private atEnd = false
  private decoder: TextDecoder | undefined
  /** The text read before the layout is known. */
  private beginning = ""
  private formulas: TextFormulas | undefined
  private parser: Parser | undefined

  constructor(file: FileHandle) {
    this.file = file
  }

  /** Empty at the end, and only then. */
  async next(): Promise<ReadonlyArray<ReadonlyArray<string>>> {
    while (!this.atEnd) {
      const { bytesRead } = await this.file.read(this.buffer, 0, chunkBytes)
      this.atEnd = bytesRead === 0
      this.write(this.decode(this.buffer.subarray(0, bytesRead)))
      if (this.atEnd) await this.finish()
      const records = this.drain()
      if (records.length > 0) return records
    }
    return []
  }

  private decode(chunk: Uint8Array): string {
    this.bytes += chunk.byteLength
    // The file may be larger than its upload stated.
    if (this.bytes > maxFileBytes) throw tooLarge()
    this.hash.update(chunk)
    this.decoder ??= new TextDecoder(encodingOf(chunk))
    return this.decoder.decode(chunk, { stream: !this.atEnd })
  }

  private write(text: string): void {
    const wrongAt = text.indexOf(replacement)
    const right = wrongAt < 0 ? text : text.slice(0, wrongAt)
    this.parse(right, wrongAt >= 0)
    if (wrongAt >= 0) throw refused(`row ${this.row} is not ${this.decoder?.encoding.toUpperCase()} text`)
  }

  private parse(text: string, isLast: boolean): void {
    if (this.parser !== undefined) return this.feed(this.parser, text)
    this.beginning += text
    const layout = layoutOf(this.beginning, isLast || this.atEnd || this.beginning.length > maxRecordLength)
    if (layout === undefined) return
    this.formulas = new TextFormulas(layout.delimiter)
    this.parser = parserOf(layout.delimiter)
    this.feed(this.parser, this.beginning.slice(layout.headerFrom))
    this.beginning = ""
  }

  private feed(parser: Parser, given: string): void {
    const text = this.formulas?.cells(given, this.atEnd) ?? given
    // The parser creates an error for every row shorter than the header, but throws none of them. Their stack traces would be most of the work.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    if (text !== "") parser.write(text)
    Error.stackTraceLimit = stackTraceLimit
    if (parser.errored !== null) throw this.fault(parser.errored)
  }

  private async finish(): Promise<void> {
    if (this.parser === undefined) return
    this.parser.end()
    await finished(this.parser, { readable: false }).catch((error: unknown) => {
      throw this.fault(error)
    })
  }

  // Takes all parsed records out at once, so that the parser never waits for its reader.
  private drain(): ReadonlyArray<ReadonlyArray<string>> {
    const records: Array<ReadonlyArray<string>> = []
    for (let record = this.parser?.read(); record !== null && record !== undefined; record = this.parser?.read()) records.push(record)
    return records
  }

  /** The row being read; the header is row 1. */
  private get row(): number {
    return (this.parser?.info.records ?? 0) + 1
  }

  private fault(error: unknown): unknown {
    if (!(error instanceof CsvError)) return error
    switch (error.code) {
      case "CSV_QUOTE_NOT_CLOSED":
        return refused(`the quote that opens in row ${this.row} is not closed`)
      case "INVALID_OPENING_QUOTE":
      case "CSV_INVALID_CLOSING_QUOTE":
        return refused(`a quote in the wrong place in row ${this.row}`)
      case "CSV_MAX_RECORD_SIZE":
        return refused(`row ${this.row} is too long, or its quote is not closed`)
      default:
        return error
    }
  }
}

/** UTF-16 only with a byte order mark. */
const encodingOf = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"

const parserOf = (delimiter: string): Parser =>
  parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: maxRecordLength
  }).on("error", () => {
    // The error is read from `errored`. Without a listener it would end the process.
  })
