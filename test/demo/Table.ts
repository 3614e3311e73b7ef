/** Tables, and lists of names with their texts. */
import { styled } from "./Display.ts"

export interface Column<Row> {
  readonly title: string
  readonly right?: true
  readonly of: (row: Row) => string
}

/** `total`: a text for each column, shown below the rows. */
export const tableOf = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  isGood: (row: Row) => boolean,
  total?: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const widths = columns.map(({ of, title }) => Math.max(title.length, ...rows.map((row) => of(row).length)))
  const line = (texts: ReadonlyArray<string>) =>
    texts.map((text, at) => (columns[at]?.right === true ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0))).join("  ")
  return [
    styled("dim", `    ${line(columns.map(({ title }) => title))}`),
    ...rows.map((row) => `    ${line(columns.map(({ of }) => of(row)))} ${isGood(row) ? styled("green", "✔") : styled("red", "✘")}`),
    ...(total === undefined ? [] : [styled("bold", `    ${line(total)}`)])
  ]
}

/** A text of several lines stays in its column. */
export const listed = (pairs: ReadonlyArray<readonly [name: string, text: string]>, width: number): ReadonlyArray<string> =>
  pairs.flatMap(([name, text]) =>
    text.split("\n").map((line, at) => `    ${at === 0 ? styled("dim", name.padEnd(width)) : " ".repeat(width)}${line}`)
  )

/** Breaks a text at spaces. */
export const wrapped = (text: string, width: number): string => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join("\n")
}
