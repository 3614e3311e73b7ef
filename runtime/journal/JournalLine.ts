/**
 * A line of a journal: words separated by spaces, and a checksum. A process killed while writing may leave the last line of a file torn; a
 * broken line anywhere else means that the file is damaged.
 */
import { crc32 } from "node:zlib"

const sumOf = (text: string) => crc32(text).toString(16).padStart(8, "0")
const SUM_LENGTH = 8

export const sealed = (text: string): string => `${text} ${sumOf(text)}\n`

const unsealed = (line: string): string | undefined => {
  const text = line.slice(0, -SUM_LENGTH - 1)
  return line === `${text} ${sumOf(text)}` ? text : undefined
}

interface JournalText {
  readonly lines: ReadonlyArray<string>
  /** What an interrupted write left after the last complete line, or empty. */
  readonly torn: string
  readonly isDamaged: boolean
}

export const readLines = (text: string): JournalText => {
  const parts = text.split("\n")
  const torn = parts.pop() ?? ""
  const lines: Array<string> = []
  let isDamaged = false
  for (const part of parts) {
    const line = unsealed(part)
    if (line === undefined) isDamaged = true
    else lines.push(line)
  }
  return { isDamaged, lines, torn }
}
