/** What a list of contacts looks like as text: what separates its cells, and what Excel writes into it. */

/** Without characters that nobody sees, such as a byte order mark. */
export const visible = (name: string): string => name.replace(/\p{Default_Ignorable_Code_Point}/gu, "").trim()

/** Characters. The longest header has a hundred columns with names of 255 characters, quoted and with escaped quotes. */
const longestHeader = 100 * (255 + 4)

/** How the records of a file are separated, and how many characters of it come before the header. */
interface Layout {
  readonly delimiter: string
  readonly headerFrom: number
}
const delimiters = [",", ";", "\t"] as const

/** Excel's own line about the delimiter. */
const announced = /^\ufeff?"?sep=([^\w"\r\n])"?[\r\n]+/i
const quoted = /"[^"]*"/g
const headerLine = /^((?:"[^"]*"|[^"\r\n])+)[\r\n]/

/**
 * From the beginning of a file; undefined until its header is complete, unless that is `all` there is. A line `sep=;` decides, and is no header. Otherwise
 * `;` or tab when the header has no comma outside quotes, and splitting on it yields a `phone_number` column; else a comma.
 */
export const layoutOf = (beginning: string, isAll = true): Layout | undefined => {
  const [line = "", told] = announced.exec(beginning) ?? []
  if (told !== undefined) return { delimiter: told, headerFrom: line.length }
  const start = Math.max(0, beginning.search(/[^\r\n]/))
  // What follows a header that is too long is not searched for its end, part by part, while the engine has calls to serve.
  const text = beginning.slice(start, start + longestHeader)
  const header = headerLine.exec(text)?.[1] ?? (isAll || text.length === longestHeader ? text : undefined)
  if (header === undefined) return undefined
  // Delimiters in quotes separate nothing.
  const names = header.replace(quoted, (name) => name.slice(1, -1).replace(/[,;\t]/g, " "))
  const yieldsPhone = (delimiter: string) => names.split(delimiter).some((name) => visible(name).toLowerCase() === "phone_number")
  const found = names.includes(",") ? undefined : delimiters.find((delimiter) => names.includes(delimiter) && yieldsPhone(delimiter))
  return { delimiter: found ?? ",", headerFrom: 0 }
}

/** Excel's `="+1..."` keeps a number a text: without its `=` it is a quoted cell. */
export class TextFormulas {
  private readonly boundaries: string
  private before = "\n"
  private isQuoted = false
  private held = ""

  constructor(delimiter: string) {
    this.boundaries = `\r\n${delimiter}`
  }

  /** The text of a file, part by part. */
  cells(part: string, isLast: boolean): string {
    const all = this.held + part
    this.held = !isLast && all.endsWith("=") ? "=" : ""
    const text = all.slice(0, all.length - this.held.length)
    const cells = text.replace(/="|"/g, (found, at: number) => {
      const isFormula = found.length > 1 && !this.isQuoted && this.boundaries.includes(text[at - 1] ?? this.before)
      this.isQuoted = !this.isQuoted
      return isFormula ? '"' : found
    })
    this.before = text.at(-1) ?? this.before
    return cells
  }
}
