/** What is wrong with the rows of an uploaded list, in words: of all rows together, as a refusal says it, and of each row on its own. */
import type { Extensions } from "#core/telephony/Extensions.ts"
import { type NumberFault, numberFaults, shown as shownNumber } from "#core/telephony/WrittenNumber.ts"

export const maxRows = 100_000
/** Characters. */
export const maxCellLength = 4096
const rowsListed = 1000
/** How many rows a message names. */
export const rowsNamed = 5

/** One of the reasons why a row is refused. */
export interface RowFault {
  /** As in `ContactRow`. */
  readonly rowNumber: number
  /** The header as written; undefined if the fault is not in a column that has one. */
  readonly column: string | undefined
  /** Shows a phone number as it is written in the file: it is never logged. */
  readonly reason: string
  /** For a number that an earlier row has. */
  readonly repeats?: { readonly phoneNumber: string; readonly firstRow: number }
}

/** The first thousand faulty rows, and their total. */
export class RowList {
  readonly rows: Array<number> = []
  count = 0
  add(row: number): void {
    this.count++
    if (this.rows.length < rowsListed) this.rows.push(row)
  }
  get named(): string {
    return this.rows.slice(0, rowsNamed).join(", ") + (this.count > rowsNamed ? ` and ${this.count - rowsNamed} more` : "")
  }
}

/** The faults of the rows, by kind. Only the last three kinds are acceptable. */
export const makeLists = () => ({
  tooMany: new RowList(),
  tooWide: new RowList(),
  unnamed: new RowList(),
  tooLong: new RowList(),
  unstorable: new RowList(),
  invalid: new RowList(),
  /** What the first invalid rows have. */
  shown: [] as string[],
  notInternational: new RowList(),
  duplicate: new RowList(),
  missing: new RowList(),
  empty: new Map<string, RowList>(),
  implausible: new RowList(),
  decimals: new RowList(),
  greeting: new RowList()
})
type Lists = ReturnType<typeof makeLists>

export const formatFault = (lists: Lists): { readonly message: string; readonly rows: ReadonlyArray<number> } | undefined => {
  const faults = [
    [lists.tooMany, `more than ${maxRows} rows`],
    [lists.tooWide, `more cells than columns in rows: ${lists.tooWide.named}`],
    [lists.unnamed, `values in a column without a name in rows: ${lists.unnamed.named}`],
    [lists.tooLong, `cells longer than ${maxCellLength} characters in rows: ${lists.tooLong.named}`],
    [lists.unstorable, `characters that are not text in rows: ${lists.unstorable.named}`]
  ] as const
  const fault = faults.find(([list]) => list.count > 0)
  return fault === undefined ? undefined : { message: `Invalid CSV format: ${fault[1]}`, rows: fault[0].rows }
}

export const invalidPhones = ({ invalid, notInternational, shown }: Lists, extensions: Extensions): string =>
  [
    `Invalid phone numbers in rows: ${invalid.named}`,
    ...(notInternational.count === 0
      ? []
      : [
          "All phone numbers must include country code (start with '+')" +
            (extensions.isEmpty ? "" : ", or be extensions that the telephony configuration lists")
        ]),
    ...shown
  ].join(". ")

export const duplicatePhones = (rows: RowList): string =>
  `Duplicate phone numbers found in rows: ${rows.named}. Phone numbers in a campaign must be unique.`

export const missingVariables = (names: Iterable<string>): string =>
  `Workflow uses template variables that are missing from the source data: ${[...names]
    .sort()
    .map((name) => `'${name}'`)
    .join(", ")}. Add the missing columns or remove them from the workflow.`

export const emptyVariable = (name: string, rows: RowList): string =>
  `Template variable '${name}' is empty in rows: ${rows.named}. ` +
  "All template variables used in the workflow must have values in every row."

/** Faults in the shape of a row, in words. */
export const shapeFaults = {
  tooMany: `more than ${maxRows} rows`,
  tooWide: "more cells than columns",
  unnamed: "a value in a column without a name",
  tooLong: `a cell longer than ${maxCellLength} characters`,
  unstorable: "characters that are not text"
} as const

export const phoneFault = (cell: string, fault: NumberFault): string =>
  `${shownNumber(cell)}: ${fault === "not international" ? "no phone number with a country code (start with '+')" : numberFaults[fault]}`
