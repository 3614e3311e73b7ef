/** Workbooks as Excel writes them, as far as tests need it, and ZIP archives of any content. */
import { crc32, deflateRawSync } from "node:zlib"

interface ZipPart {
  readonly name: string
  readonly content: string | Buffer
  /** What the archive says of the part, where that is not the truth. */
  readonly said?: { readonly crc?: number; readonly flags?: number; readonly method?: number }
}

export const zipOf = (parts: ReadonlyArray<ZipPart>): Buffer => {
  const files: Array<Buffer> = []
  const entries: Array<Buffer> = []
  let at = 0
  for (const { content, name, said } of parts) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(said?.flags ?? 0, 8)
    entry.writeUInt16LE(said?.method ?? 8, 10)
    entry.writeUInt32LE(said?.crc ?? crc32(bytes), 16)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt32LE(bytes.length, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    files.push(head, Buffer.from(name), packed)
    entries.push(entry, Buffer.from(name))
    at += head.length + name.length + packed.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...files, directory, end])
}

export interface GivenWorkbook {
  /** The rows of each sheet, as XML; of a hidden one behind `hidden:`. */
  readonly sheets: ReadonlyArray<string>
  /** As XML. */
  readonly texts?: ReadonlyArray<string>
  /** Codes of formats, or ids of built-in ones, of the styles 1, 2 and so on. */
  readonly formats?: ReadonlyArray<string | number>
  readonly is1904?: boolean
  readonly more?: ReadonlyArray<ZipPart>
}

const xml = (content: string) => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${content}`
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const relations = (those: ReadonlyArray<readonly [id: string, type: string, target: string]>) =>
  xml(
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${those
      .map(([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`)
      .join("")}</Relationships>`
  )
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;")

export const workbookParts = ({ formats = [], is1904 = false, more = [], sheets, texts = [] }: GivenWorkbook): ReadonlyArray<ZipPart> => [
  { name: "_rels/.rels", content: relations([["rId1", "officeDocument", "xl/workbook.xml"]]) },
  {
    name: "xl/workbook.xml",
    content: xml(
      `<workbook ${main} xmlns:r="${office}"><workbookPr${is1904 ? ' date1904="1"' : ""}/><sheets>${sheets
        .map(
          (rows, at) =>
            `<sheet name="S${at}" sheetId="${at + 1}"${rows.startsWith("hidden:") ? ' state="hidden"' : ""} r:id="rId${at + 1}"/>`
        )
        .join("")}</sheets></workbook>`
    )
  },
  {
    name: "xl/_rels/workbook.xml.rels",
    content: relations([
      ...sheets.map((_, at) => [`rId${at + 1}`, "worksheet", `worksheets/sheet${at + 1}.xml`] as const),
      ["rId101", "sharedStrings", "/xl/sharedStrings.xml"],
      ["rId102", "styles", "styles.xml"]
    ])
  },
  { name: "xl/sharedStrings.xml", content: xml(`<sst ${main}>${texts.map((text) => `<si>${text}</si>`).join("")}</sst>`) },
  {
    name: "xl/styles.xml",
    content: xml(
      `<styleSheet ${main}><numFmts>${formats
        .map((code, at) => (typeof code === "number" ? "" : `<numFmt numFmtId="${164 + at}" formatCode="${escaped(code)}"/>`))
        .join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
        .map((code, at) => `<xf numFmtId="${typeof code === "number" ? code : 164 + at}"/>`)
        .join("")}</cellXfs></styleSheet>`
    )
  },
  ...sheets.map((rows, at) => ({
    name: `xl/worksheets/sheet${at + 1}.xml`,
    content: xml(`<worksheet ${main}><sheetData>${rows.replace(/^hidden:/, "")}</sheetData></worksheet>`)
  })),
  ...more
]

export const workbookOf = (given: GivenWorkbook): Buffer => zipOf(workbookParts(given))

/** Rows of texts, as XML. */
export const rowsOf = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows
    .map(
      (cells) =>
        `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${escaped(text).replaceAll("<", "&lt;")}</t></is></c>`).join("")}</row>`
    )
    .join("")
