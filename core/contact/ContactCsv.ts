/**
 * Judges an uploaded list of contacts record by record: which records are contacts, which are skipped, and why the whole file is refused. One
 * bad row refuses the file, so that nobody is dialed by surprise and the totals match the upload. The bytes are split into records elsewhere. Memory
 * is bounded: two numbers per accepted phone number, and at most a thousand row numbers per kind of fault.
 */
import { Result, Schema } from "effect"
import { requiredVariables as variablesOf } from "#core/agent/Template.ts"
import { visible } from "./CsvLayout.ts"
import { isStorable } from "#core/storable.ts"
import { type Extensions, noExtensions } from "#core/telephony/Extensions.ts"
import {
  type NumberFault,
  noPlan,
  numberFaults,
  type NumberingPlan,
  readNumber,
  shown as shownNumber
} from "#core/telephony/WrittenNumber.ts"
import {
  duplicatePhones,
  emptyVariable,
  formatFault,
  invalidPhones,
  makeLists,
  maxCellLength,
  maxRows,
  missingVariables,
  phoneFault,
  type RowFault,
  RowList,
  rowsNamed,
  shapeFaults
} from "./CsvFaults.ts"

export const maxFileBytes = 10 * 1024 * 1024
const maxColumns = 100
/** Characters. */
const maxHeaderLength = 255
const variablesListed = 100

/** In the order in which they are reported when a file has several. The reader of the bytes reports its faults as `invalid_format` as well. */
const reasons = [
  "invalid_format",
  "no_data",
  "no_phone_column",
  "invalid_phone",
  "duplicate_phone",
  "missing_variable",
  "empty_variable",
  "no_usable_row"
] as const

export class CsvRefused extends Schema.TaggedError<CsvRefused>()("CsvRefused", {
  reason: Schema.Literals(reasons),
  /** A message for the user whose file it is. It names at most five rows, and shows phone numbers as they are written there: it is never logged. */
  message: Schema.String,
  /** The first 1,000 faulty rows; the header is row 1. */
  rows: Schema.Array(Schema.Int)
}) {}

type GreetingOverride = { readonly type: "text"; readonly text: string } | { readonly type: "audio"; readonly recordingId: string }

export interface ContactRow {
  /** Number of the record in the file; the header is 1, and blank lines are not counted. */
  readonly rowNumber: number
  /** E.164, or an extension. */
  readonly phoneNumber: string
  /** All columns except the greeting's, by their header as written and in lower case. `phone_number` is normalized. */
  readonly context: Readonly<Record<string, string>>
  readonly greetingOverride: GreetingOverride | undefined
}

export interface CsvSummary {
  readonly rowsInFile: number
  readonly accepted: number
  /** Rows without a phone number. */
  readonly skipped: number
  /** Whether some of the numbers are extensions. */
  readonly hasExtensions?: true
  readonly warnings: ReadonlyArray<string>
}

export interface CsvReader {
  /**
   * Takes the next record. Undefined if the row is blank, skipped or faulty, or if the file has already been refused: without `onFault`, the
   * rest is then only counted.
   */
  row(cells: ReadonlyArray<string>): ContactRow | undefined
  /** Of the rows so far, whether or not the file has been refused. */
  summary(): CsvSummary
  /** The columns whose values templates can use, and the names under which they do. */
  readonly variables: ReadonlyArray<{ readonly column: string; readonly names: ReadonlyArray<string> }>
  /** Must be called after the last record. A refusal here also revokes every row that was returned before. */
  end(): Result.Result<CsvSummary, CsvRefused>
}

export interface CsvOptions {
  /** The variables that the agent's prompts need for every contact. */
  readonly requiredVariables?: Iterable<string>
  /** Such tables lag behind the real plans, so a number that is not possible, but written as one, is only a warning. */
  readonly plan?: NumberingPlan
  /** The extensions of the telephony configuration through which the list is called. */
  readonly extensions?: Extensions
  /** Is told of each fault of a row. The rows of a refused file that have none are then still returned. */
  readonly onFault?: (fault: RowFault) => void
}

/** Checks the header. Faults that depend on the rows are reported by `end`. */
export const begin = (header: ReadonlyArray<string>, options: CsvOptions = {}): Result.Result<CsvReader, CsvRefused> => {
  const columns = header.map(visible)
  const message = headerFault(columns)
  if (message !== undefined)
    return Result.fail(new CsvRefused({ reason: "invalid_format", message: `Invalid CSV format: ${message}`, rows: [1] }))
  return Result.succeed(new Reader(makePlan(columns), options))
}

const headerFault = (columns: ReadonlyArray<string>): string | undefined => {
  if (columns.length > maxColumns) return `more than ${maxColumns} columns`
  if (columns.some((column) => column.length > maxHeaderLength)) return `a column name is longer than ${maxHeaderLength} characters`
  if (!columns.every(isStorable)) return "a column name contains a character that is not text"
  const seen = new Set<string>()
  for (const column of columns) {
    const key = column.toLowerCase()
    // Assigning to this name on an object does not add a property.
    if (key === "__proto__") return `column '${column}' cannot be used`
    if (key !== "" && seen.has(key)) return `column '${column}' occurs more than once`
    seen.add(key)
  }
  return undefined
}

/** Extensions are compared as written: removing the point from `1000.0` would call somebody else. */
const extensionIn = (cell: string, extensions: Extensions): string | undefined => {
  const phone = cell.trim().replace(/^'/, "")
  return extensions.has(phone) ? phone : undefined
}

/** Maps the cells of a record. A column that the file does not have has the index -1. */
interface Plan {
  readonly headers: ReadonlyArray<string>
  readonly phone: number
  readonly unnamed: ReadonlyArray<number>
  /** Context names of each column; empty for the greeting's columns and for columns without a name. */
  readonly names: ReadonlyArray<ReadonlyArray<string>>
  readonly greeting: { readonly type: number; readonly text: number; readonly recordingId: number }
}

const makePlan = (columns: ReadonlyArray<string>): Plan => {
  const find = (name: string) => columns.findIndex((column) => column.toLowerCase() === name)
  const greeting = {
    type: find("greeting_override_type"),
    text: find("greeting_override_text"),
    recordingId: find("greeting_override_recording_id")
  }
  const reserved = new Set(Object.values(greeting))
  return {
    headers: columns,
    phone: find("phone_number"),
    unnamed: columns.flatMap((column, index) => (column === "" ? [index] : [])),
    names: columns.map((column, index) => (column === "" || reserved.has(index) ? [] : [...new Set([column, column.toLowerCase()])])),
    greeting
  }
}

/** `ignored` means that the greeting is incomplete, or that its type does not exist. */
const readGreeting = (plan: Plan["greeting"], cells: ReadonlyArray<string>): GreetingOverride | "ignored" | undefined => {
  const type = (cells[plan.type] ?? "").trim().toLowerCase()
  const text = cells[plan.text] ?? ""
  const recordingId = (cells[plan.recordingId] ?? "").trim()
  if (type === "text" && text.trim() !== "") return { type, text }
  if (type === "audio" && recordingId !== "") return { type, recordingId }
  return type === "" && text.trim() === "" && recordingId === "" ? undefined : "ignored"
}

const contextOf = (plan: Plan, cells: ReadonlyArray<string>, phoneNumber: string): Record<string, string> => {
  const context: Record<string, string> = {}
  for (let column = 0; column < plan.headers.length; column++) {
    const value = column === plan.phone ? phoneNumber : (cells[column] ?? "")
    for (const name of plan.names[column] ?? []) context[name] = value
  }
  return context
}

/** The first fault in the shape of the record, regardless of its content, and the index of its column. */
const shapeFault = (plan: Plan, cells: ReadonlyArray<string>): readonly [kind: keyof typeof shapeFaults, column: number] | undefined => {
  for (let column = 0; column < cells.length; column++) {
    const cell = cells[column] ?? ""
    if (cell.length > maxCellLength) return ["tooLong", column]
    if (!isStorable(cell)) return ["unstorable", column]
    if (column >= plan.headers.length && cell.trim() !== "") return ["tooWide", column]
  }
  const unnamed = plan.unnamed.find((column) => (cells[column] ?? "").trim() !== "")
  return unnamed === undefined ? undefined : ["unnamed", unnamed]
}

class Reader implements CsvReader {
  readonly variables: CsvReader["variables"]
  private readonly plan: Plan
  private readonly available: ReadonlySet<string>
  private readonly required: ReadonlyArray<string>
  private readonly missing: Set<string>
  private readonly lists = makeLists()
  // A number holds fifteen digits exactly, and does not keep the text of the file in memory. The values are the rows.
  private readonly phones = new Map<number, number>()
  private readonly extensions: Extensions
  private readonly numbers: NumberingPlan
  /** Kept apart because an extension can have the same digits as a number. */
  private readonly extensionsSeen = new Map<string, number>()
  private readonly onFault: CsvOptions["onFault"]
  private refused: boolean
  /** The row that is being read. */
  private isFaulty = false
  private rows = 0
  private accepted = 0
  private skipped = 0

  constructor(plan: Plan, options: CsvOptions) {
    this.plan = plan
    this.extensions = options.extensions ?? noExtensions
    this.numbers = options.plan ?? noPlan
    this.onFault = options.onFault
    this.variables = plan.headers
      .map((column, index) => ({ column, names: plan.names[index] ?? [] }))
      .filter(({ names }) => names.length > 0)
    this.available = new Set(plan.names.flat())
    const required = [...new Set(options.requiredVariables)]
    this.required = required.filter((name) => this.available.has(name))
    this.missing = new Set(required.filter((name) => !this.available.has(name)))
    this.refused = plan.phone < 0 || this.missing.size > 0
  }

  row(cells: ReadonlyArray<string>): ContactRow | undefined {
    if (cells.length <= 1 && (cells[0] ?? "") === "") return undefined
    const rowNumber = ++this.rows + 1
    this.isFaulty = false
    if (this.rows > maxRows) return this.refuse(this.lists.tooMany, { rowNumber, column: undefined, reason: shapeFaults.tooMany })
    const [shape, column = -1] = shapeFault(this.plan, cells) ?? []
    if (shape !== undefined) this.refuse(this.lists[shape], { rowNumber, column: this.header(column), reason: shapeFaults[shape] })
    const cell = cells[this.plan.phone] ?? ""
    if (cell.trim() === "") {
      if (!this.isFaulty) this.skipped++
      return undefined
    }
    return this.readContact(cells, this.readPhone(cell, rowNumber), rowNumber)
  }

  end(): Result.Result<CsvSummary, CsvRefused> {
    const refusal = this.refusal()
    return refusal === undefined ? Result.succeed(this.summary()) : Result.fail(refusal)
  }

  summary(): CsvSummary {
    const { decimals, greeting, implausible } = this.lists
    const warnings = [
      ...(decimals.count === 0 ? [] : [`Decimals cut off from phone numbers in rows: ${decimals.named}`]),
      ...(implausible.count === 0
        ? []
        : [`Phone numbers that are not possible in their country's numbering plan in rows: ${implausible.named}`]),
      ...(greeting.count === 0 ? [] : [`Incomplete or unknown greeting override ignored in rows: ${greeting.named}`])
    ]
    return {
      rowsInFile: this.rows,
      accepted: this.accepted,
      skipped: this.skipped,
      warnings,
      ...(this.extensionsSeen.size === 0 ? {} : { hasExtensions: true })
    }
  }

  private refuse(list: RowList, fault: RowFault): undefined {
    this.refused = true
    this.isFaulty = true
    list.add(fault.rowNumber)
    this.onFault?.(fault)
    return undefined
  }

  private header(column: number): string | undefined {
    return this.plan.headers[column] || undefined
  }

  private readPhone(cell: string, rowNumber: number): string | undefined {
    const extension = extensionIn(cell, this.extensions)
    if (extension !== undefined) return this.unlessSeen(this.extensionsSeen, extension, extension, rowNumber)
    const written = readNumber(cell, this.numbers)
    if (Result.isFailure(written)) return this.refusePhone(cell, written.failure, rowNumber)
    const { e164, hadDecimals } = written.success
    const isNew = this.unlessSeen(this.phones, Number(e164), e164, rowNumber)
    if (isNew === undefined) return undefined
    if (hadDecimals) this.lists.decimals.add(rowNumber)
    if (this.numbers.fit(e164) !== "possible") this.lists.implausible.add(rowNumber)
    return isNew
  }

  private refusePhone(cell: string, fault: NumberFault, rowNumber: number): undefined {
    const { invalid, notInternational, shown } = this.lists
    if (fault === "not international") notInternational.add(rowNumber)
    if (shown.length < rowsNamed)
      shown.push(`Row ${rowNumber} has ${shownNumber(cell)}${fault === "not international" ? "" : `: ${numberFaults[fault]}`}`)
    return this.refuse(invalid, { rowNumber, column: this.header(this.plan.phone), reason: phoneFault(cell, fault) })
  }

  private unlessSeen<Key>(seen: Map<Key, number>, key: Key, phoneNumber: string, rowNumber: number): string | undefined {
    const firstRow = seen.get(key)
    if (firstRow === undefined) {
      seen.set(key, rowNumber)
      return phoneNumber
    }
    const reason = `row ${firstRow} has the same number`
    return this.refuse(this.lists.duplicate, {
      ...{ rowNumber, column: this.header(this.plan.phone), reason },
      repeats: { phoneNumber, firstRow }
    })
  }

  /** Without a valid number there is no contact, but its other faults are found. */
  private readContact(cells: ReadonlyArray<string>, phoneNumber: string | undefined, rowNumber: number): ContactRow | undefined {
    const context = contextOf(this.plan, cells, phoneNumber ?? cells[this.plan.phone] ?? "")
    const greeting = readGreeting(this.plan.greeting, cells)
    if (greeting === "ignored") this.lists.greeting.add(rowNumber)
    const greetingOverride = greeting === "ignored" ? undefined : greeting
    for (const name of this.required) this.need(name, context, rowNumber)
    if (greetingOverride?.type === "text") {
      for (const name of variablesOf(greetingOverride.text)) this.need(name, context, rowNumber)
    }
    if (phoneNumber === undefined || this.isFaulty || (this.refused && this.onFault === undefined)) return undefined
    this.accepted++
    return { rowNumber, phoneNumber, context, greetingOverride }
  }

  private need(name: string, context: Readonly<Record<string, string>>, rowNumber: number): void {
    if (!this.available.has(name)) {
      if (this.missing.size < variablesListed) this.missing.add(name)
      const column = this.header(this.plan.greeting.text)
      this.refuse(this.lists.missing, { rowNumber, column, reason: `the greeting uses the variable '${name}', which no column has` })
    } else if ((context[name] ?? "").trim() === "") {
      const list = this.lists.empty.get(name) ?? new RowList()
      this.lists.empty.set(name, list)
      const column = this.header(this.plan.names.findIndex((names) => names.includes(name)))
      this.refuse(list, { rowNumber, column, reason: `template variable '${name}' is empty` })
    }
  }

  private refusal(): CsvRefused | undefined {
    const { duplicate, empty, invalid, missing } = this.lists
    const refused = (reason: CsvRefused["reason"], message: string, rows: ReadonlyArray<number>) =>
      new CsvRefused({ reason, message, rows })
    const format = formatFault(this.lists)
    if (format !== undefined) return refused("invalid_format", format.message, format.rows)
    if (this.rows === 0) return refused("no_data", "CSV file must have a header row and at least one data row", [])
    if (this.plan.phone < 0) return refused("no_phone_column", "Source must contain a 'phone_number' column", [1])
    if (invalid.count > 0) return refused("invalid_phone", invalidPhones(this.lists, this.extensions), invalid.rows)
    if (duplicate.count > 0) return refused("duplicate_phone", duplicatePhones(duplicate), duplicate.rows)
    if (this.missing.size > 0) return refused("missing_variable", missingVariables(this.missing), missing.rows)
    for (const [name, list] of empty) return refused("empty_variable", emptyVariable(name, list), list.rows)
    if (this.accepted === 0) return refused("no_usable_row", "CSV file must have at least one row with a phone number", [])
    return undefined
  }
}
