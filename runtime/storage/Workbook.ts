/**
 * Reads a list of contacts from a workbook (`.xlsx`), into the same records as a CSV gives: the first visible sheet whose first row has a
 * `phone_number`, else the first one. Formulas are not evaluated, their results are in the file; rows without a value are left out. Nothing is
 * trusted: what is decompressed, and what is kept in memory, has limits.
 */
import { TextDecoder } from "node:util"
import { SaxesParser } from "saxes"
import { SourceRefused } from "#core/contact/ContactSource.ts"
import { visible } from "#core/contact/CsvLayout.ts"
import { formatOf, type NumberFormat, numberText } from "./cellText.ts"
import { Zip, ZipFault } from "./Zip.ts"

/** A hundred thousand rows of ten columns are half of it. */
const mostBytes = 128 * 1024 * 1024
/** How much may come without a tag. */
const mostText = 1024 * 1024
const mostSheets = 100
/** Different texts, which are kept apart from the cells. */
const mostTexts = 1_000_000
/** Characters: one more than a list may have in a cell. */
const mostInCell = 4097
/** One more than a list may have. */
const mostColumns = 101
/** Records that are handed over together. */
const batchRows = 500

const refused = (what: string) => new SourceRefused({ reason: `Invalid workbook: ${what}` })

/** How much of a file tells what it is. */
export const beginningBytes = 4
export const isWorkbook = (beginning: Uint8Array): boolean => Buffer.from(beginning).toString("latin1") === "PK\u0003\u0004"
/** The format of Excel before 2007, and of workbooks with a password. */
export const isOldWorkbook = (beginning: Uint8Array): boolean => Buffer.from(beginning).toString("hex") === "d0cf11e0"
export const oldWorkbook = () =>
  refused("it is in the format of Excel before 2007, or has a password; save it as .xlsx without one, or as CSV")

type Records = ReadonlyArray<ReadonlyArray<string>>

/** In batches, none of them empty. Throws `SourceRefused`. */
export async function* workbookRecords(bytes: Buffer): AsyncGenerator<Records, void> {
  try {
    const zip = new Zip(bytes, mostBytes)
    const book = await bookIn(zip)
    for (const [index, sheet] of [...book.sheets, book.sheets[0] ?? ""].entries()) {
      // The last one is the first again, if none has a column of numbers.
      const isLast = index === book.sheets.length
      let isChosen = isLast
      for await (const records of recordsIn(zip, sheet, book)) {
        isChosen ||= records[0]?.some((name) => visible(name).toLowerCase() === "phone_number") === true
        if (!isChosen) break
        yield records
      }
      if (isChosen) return
    }
  } catch (error) {
    throw error instanceof ZipFault ? refused(error.message) : error
  }
}

interface Book {
  /** The parts of the visible sheets, in order. */
  readonly sheets: ReadonlyArray<string>
  readonly texts: ReadonlyArray<string>
  /** By the number of a cell's style. */
  readonly formats: ReadonlyArray<NumberFormat>
  readonly is1904: boolean
}

interface Handlers {
  readonly open: (tag: string, attribute: (name: string) => string | undefined, parent: string | undefined) => void
  readonly close?: (tag: string) => void
  readonly text?: (text: string, tag: string | undefined) => void
}

/** Reads a part as XML: tags and attributes without their prefixes. Yields after each piece of it, so that others get their turn. */
async function* read(zip: Zip, part: string, { close, open, text }: Handlers): AsyncGenerator<void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const parser = new SaxesParser({ position: false })
  const path: Array<string> = []
  let silent = 0
  parser.on("error", () => {
    throw refused(`'${part}' is no well-formed XML`)
  })
  parser.on("opentag", ({ attributes, name }) => {
    silent = 0
    const found = (wanted: string) => attributes[wanted] ?? Object.entries(attributes).find(([one]) => bare(one) === wanted)?.[1]
    open(bare(name), found, path.at(-1))
    path.push(bare(name))
  })
  parser.on("text", (content) => text?.(content, path.at(-1)))
  parser.on("closetag", ({ name }) => {
    silent = 0
    path.pop()
    close?.(bare(name))
  })
  for await (const piece of zip.read(part)) {
    silent += piece.byteLength
    if (silent > mostText) throw refused("a text in it is too long")
    parser.write(decoded(decoder, part, piece))
    yield
  }
  parser.write(decoded(decoder, part))
  parser.close()
  yield
}

const bare = (name: string): string => name.slice(name.indexOf(":") + 1)

const decoded = (decoder: TextDecoder, part: string, piece?: Buffer): string => {
  try {
    return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
  } catch {
    throw refused(`'${part}' is not UTF-8 text`)
  }
}

const readWhole = async (zip: Zip, part: string, handlers: Handlers): Promise<void> => {
  for await (const _ of read(zip, part, handlers));
}

interface Relation {
  readonly type: string
  readonly target: string
}

/** What a part refers to, by the id of the reference. */
const relationsOf = async (zip: Zip, part: string): Promise<ReadonlyMap<string, Relation>> => {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]*)$/.exec(part) ?? []
  const relations = new Map<string, Relation>()
  const place = `${folder}_rels/${name}.rels`
  if (!zip.has(place)) return relations
  await readWhole(zip, place, {
    open: (tag, attribute) => {
      const [id, target, type] = [attribute("Id"), attribute("Target"), attribute("Type")]
      if (tag !== "Relationship" || id === undefined || target === undefined || type === undefined) return
      // The part's folder is the base of a relative address.
      relations.set(id, {
        target: URL.parse(target, `zip:///${folder}`)?.pathname.slice(1) ?? "",
        type: type.slice(type.lastIndexOf("/") + 1)
      })
    }
  })
  return relations
}

const bookIn = async (zip: Zip): Promise<Book> => {
  const ofType = (relations: ReadonlyMap<string, Relation>, type: string) =>
    [...relations.values()].find((one) => one.type === type)?.target
  const main = ofType(await relationsOf(zip, ""), "officeDocument") ?? "xl/workbook.xml"
  const relations = await relationsOf(zip, main)
  const sheets: Array<string> = []
  let is1904 = false
  await readWhole(zip, main, {
    open: (tag, attribute) => {
      if (tag === "workbookPr") is1904 = /^(1|true)$/.test(attribute("date1904") ?? "")
      const target = relations.get(attribute("id") ?? "")?.target
      if (tag === "sheet" && target !== undefined && (attribute("state") ?? "visible") === "visible") sheets.push(target)
    }
  })
  if (sheets.length === 0) throw refused("it has no visible sheet")
  if (sheets.length > mostSheets) throw refused(`it has more than ${mostSheets} sheets`)
  const [texts, styles] = [ofType(relations, "sharedStrings"), ofType(relations, "styles")]
  return {
    ...{ is1904, sheets },
    texts: texts === undefined ? [] : await textsIn(zip, texts),
    formats: styles === undefined ? [] : await formatsIn(zip, styles)
  }
}

/** Of a text with parts of different looks; what is beside it for its pronunciation does not belong to it. */
class TextParts {
  text = ""
  private isSpoken = false
  readonly open = (tag: string): void => {
    if (tag === "rPh") this.isSpoken = true
  }
  readonly close = (tag: string): void => {
    if (tag === "rPh") this.isSpoken = false
  }
  readonly add = (text: string, tag: string | undefined): void => {
    if (tag === "t" && !this.isSpoken && this.text.length < mostInCell) this.text += text
  }
  take(): string {
    // A character that XML cannot hold is written as its number.
    const text = this.text.slice(0, mostInCell).replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    this.text = ""
    return text
  }
}

const textsIn = async (zip: Zip, part: string): Promise<ReadonlyArray<string>> => {
  const texts: Array<string> = []
  const parts = new TextParts()
  await readWhole(zip, part, {
    open: parts.open,
    text: parts.add,
    close: (tag) => {
      parts.close(tag)
      if (tag !== "si") return
      if (texts.length === mostTexts) throw refused(`it has more than ${mostTexts} different texts`)
      texts.push(parts.take())
    }
  })
  return texts
}

const formatsIn = async (zip: Zip, part: string): Promise<ReadonlyArray<NumberFormat>> => {
  const codes = new Map<number, string>()
  const formats: Array<NumberFormat> = []
  await readWhole(zip, part, {
    open: (tag, attribute, parent) => {
      const id = Number(attribute("numFmtId") ?? 0)
      if (tag === "numFmt") codes.set(id, attribute("formatCode") ?? "")
      // The formats stand before the styles that use them.
      if (tag === "xf" && parent === "cellXfs") formats.push(formatOf(id, codes.get(id)))
    }
  })
  return formats
}

async function* recordsIn(zip: Zip, part: string, book: Book): AsyncGenerator<Records, void> {
  const rows = new SheetRows(book)
  for await (const _ of read(zip, part, rows)) {
    if (rows.done.length >= batchRows) yield rows.take()
  }
  if (rows.done.length > 0) yield rows.take()
}

class SheetRows implements Handlers {
  done: Array<ReadonlyArray<string>> = []
  private readonly book: Book
  private readonly parts = new TextParts()
  private cells: Array<string> = []
  private cell = { column: -1, hasFormula: false, hasValue: false, name: "", style: 0, type: "n" }
  private value = ""

  constructor(book: Book) {
    this.book = book
  }

  take(): Records {
    const taken = this.done
    this.done = []
    return taken
  }

  readonly open: Handlers["open"] = (tag, attribute) => {
    if (tag === "row") this.cells = []
    if (tag === "row") this.cell.column = -1
    if (tag === "c") {
      const name = attribute("r") ?? ""
      const column = columnOf(name) ?? this.cell.column + 1
      this.cell = { column, hasFormula: false, hasValue: false, name, style: Number(attribute("s") ?? 0), type: attribute("t") ?? "n" }
      this.value = ""
      this.parts.take()
    }
    if (tag === "f") this.cell.hasFormula = true
    if (tag === "v" || tag === "is") this.cell.hasValue = true
    this.parts.open(tag)
  }

  readonly text: NonNullable<Handlers["text"]> = (text, tag) => {
    if (tag === "v") this.value += text
    this.parts.add(text, tag)
  }

  readonly close: NonNullable<Handlers["close"]> = (tag) => {
    this.parts.close(tag)
    if (tag === "row" && this.cells.some((cell) => cell.trim() !== "")) this.done.push(Array.from(this.cells, (cell) => cell ?? ""))
    if (tag !== "c") return
    const text = this.cellText()
    // What is further to the right is only counted as one cell too many.
    if (text !== "") this.cells[Math.min(this.cell.column, mostColumns - 1)] = text
  }

  private cellText(): string {
    const { hasFormula, hasValue, name, style, type } = this.cell
    if (hasFormula && !hasValue) throw refused(`the result of the formula in cell ${name} is not in the file; open and save it in Excel`)
    if (!hasValue) return ""
    const raw = this.value.slice(0, mostInCell)
    if (type === "inlineStr") return this.parts.take()
    if (type === "b") return raw === "1" ? "TRUE" : "FALSE"
    if (type === "str" || type === "e" || type === "d") return raw
    const text =
      type === "s"
        ? this.book.texts[Number(raw)]
        : raw === ""
          ? ""
          : numberText(raw, this.book.formats[style] ?? { _tag: "Plain" }, this.book.is1904)
    if (text === undefined) throw refused(`cell ${name} cannot be read`)
    return text
  }
}

/** From zero, of a name such as `B2`. */
const columnOf = (name: string): number | undefined => {
  const letters = /^[A-Z]{1,3}/.exec(name)?.[0]
  return letters === undefined ? undefined : [...letters].reduce((all, one) => all * 26 + one.charCodeAt(0) - 64, 0) - 1
}
