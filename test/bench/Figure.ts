/** A benchmark's measurements, and how they are shown. Every number was measured in this run. */

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Undefined: the figure explains another one. */
  readonly goal?: Goal
  /** The same measurement of something simpler, made in the same run. */
  readonly control?: number
}
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** Three significant digits, or all digits before the point of a larger number. */
const rounded = (value: number): number => Number(value.toPrecision(Math.max(3, Math.trunc(Math.abs(value)).toString().length)))
const shown = (value: number): string => rounded(value).toLocaleString("en", { maximumSignificantDigits: 21 })
const goalText = (goal: Goal, show: (value: number) => string): string =>
  "atMost" in goal ? `<= ${show(goal.atMost)}` : `>= ${show(goal.atLeast)}`
const isMet = (value: number, goal: Goal): boolean => ("atMost" in goal ? value <= goal.atMost : value >= goal.atLeast)
const ratioOf = ({ control, value }: Figure): number | null =>
  control === undefined || control === 0 ? null : Number((value / control).toFixed(2))

export const json = (figure: Figure): string =>
  JSON.stringify({
    name: figure.name,
    value: rounded(figure.value),
    unit: figure.unit,
    goal: figure.goal === undefined ? null : goalText(figure.goal, (value) => String(rounded(value))),
    control: figure.control === undefined ? null : rounded(figure.control),
    ratio: ratioOf(figure)
  })

const header = ["name", "value", "unit", "goal", "control", "ratio"]
const numbers = [1, 4, 5]
const cellsOf = (figure: Figure): ReadonlyArray<string> => [
  figure.name,
  shown(figure.value),
  figure.unit,
  figure.goal === undefined ? "" : `${goalText(figure.goal, shown)}${isMet(figure.value, figure.goal) ? "" : "  MISSED"}`,
  figure.control === undefined ? "" : shown(figure.control),
  ratioOf(figure)?.toFixed(2) ?? ""
]

export const table = (figures: ReadonlyArray<Figure>): string => {
  const rows = [header, ...figures.map(cellsOf)]
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    row
      .map((cell, column) => (numbers.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  const [first = header, ...rest] = rows
  return [line(first), widths.map((width) => "-".repeat(width)).join("  "), ...rest.map(line)].join("\n")
}

/** The value that this share of the values, 0 to 1, does not exceed. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
