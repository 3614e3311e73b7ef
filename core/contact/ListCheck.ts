/**
 * What creating a campaign from an uploaded list would come to, row by row. The same reader decides as at the creation, so a list is accepted here if,
 * and only if, it is accepted there. Nothing is stored, and of everything only the first entries are in memory.
 */
import { Effect, Result } from "effect"
import type { Extensions } from "#core/telephony/Extensions.ts"
import type { ContactRow, CsvReader, CsvSummary } from "./ContactCsv.ts"
import { openList, readRows } from "./ContactImport.ts"
import type { SourceRecords } from "./ContactSource.ts"
import type { RowFault } from "./CsvFaults.ts"
import { visible } from "./CsvLayout.ts"

/** How many faults, and how many repeated numbers, are listed. */
const listed = 100
const contactsShown = 5

interface RepeatedNumber {
  readonly phoneNumber: string
  /** The first hundred rows that have it. */
  readonly rows: ReadonlyArray<number>
}

export interface ListCheck extends Omit<CsvSummary, "hasExtensions"> {
  /** Why no campaign can be created from the list, as the creation says it; undefined if one can. */
  readonly refusal: string | undefined
  /** The headers as written; empty if the file could not be read as far. */
  readonly columns: ReadonlyArray<string>
  readonly refused: { readonly rows: number; readonly faults: ReadonlyArray<RowFault> }
  readonly repeated: { readonly numbers: number; readonly first: ReadonlyArray<RepeatedNumber> }
  /** The variables that the agent needs and no column has. */
  readonly missingVariables: ReadonlyArray<string>
  /** The columns that the agent does not use, as written. */
  readonly unusedColumns: ReadonlyArray<string>
  /** The first contacts, as they would be dialed. */
  readonly contacts: ReadonlyArray<ContactRow>
}

/** The variables of an agent. */
interface Variables {
  readonly required: ReadonlyArray<string>
  /** All that it uses. */
  readonly used: ReadonlySet<string>
}

export const checkList = Effect.fnUntraced(function* (records: SourceRecords, agent: Variables | undefined, extensions: Extensions) {
  const found = new Findings()
  const options = { extensions, requiredVariables: agent?.required ?? [], onFault: found.fault }
  const refusal = yield* Effect.gen(function* () {
    const { begun, firstRows, header } = yield* openList(records, options)
    found.columns = header.map(visible)
    if (Result.isFailure(begun)) return begun.failure.message
    const reader = begun.success
    found.summary = () => reader.summary()
    if (agent !== undefined) found.compare(reader.variables, agent)
    yield* readRows(records, { firstRows, reader }, (contacts) => Effect.sync(() => found.show(contacts)))
    return Result.getOrUndefined(Result.flip(reader.end()))?.message
  }).pipe(Effect.catchTag("SourceRefused", ({ reason }) => Effect.succeed(reason)))
  return found.result(refusal)
})

/** Of a file that cannot be read at all. */
export const unreadable = (refusal: string): ListCheck => new Findings().result(refusal)

class Findings {
  columns: ReadonlyArray<string> = []
  summary = (): CsvSummary => ({ rowsInFile: 0, accepted: 0, skipped: 0, warnings: [] })
  private missingVariables: ReadonlyArray<string> = []
  private unusedColumns: ReadonlyArray<string> = []
  private readonly faults: Array<RowFault> = []
  private refusedRows = 0
  private lastRefused = 0
  private readonly contacts: Array<ContactRow> = []
  private readonly repeatedNumbers = new Set<string>()
  private readonly rowsOf = new Map<string, Array<number>>()

  readonly fault = (fault: RowFault): void => {
    if (fault.rowNumber !== this.lastRefused) this.refusedRows++
    this.lastRefused = fault.rowNumber
    if (this.faults.length < listed) this.faults.push(fault)
    if (fault.repeats !== undefined) this.repeats(fault.rowNumber, fault.repeats)
  }

  private repeats(rowNumber: number, { firstRow, phoneNumber }: NonNullable<RowFault["repeats"]>): void {
    this.repeatedNumbers.add(phoneNumber)
    const rows = this.rowsOf.get(phoneNumber)
    if (rows === undefined) {
      if (this.rowsOf.size < listed) this.rowsOf.set(phoneNumber, [firstRow, rowNumber])
    } else if (rows.length < listed) rows.push(rowNumber)
  }

  compare(columns: CsvReader["variables"], { required, used }: Variables): void {
    const names = new Set(columns.flatMap((one) => one.names))
    this.missingVariables = required.filter((name) => !names.has(name))
    this.unusedColumns = columns
      .filter((one) => !one.names.some((name) => name === "phone_number" || used.has(name)))
      .map(({ column }) => column)
  }

  show(contacts: ReadonlyArray<ContactRow>): void {
    this.contacts.push(...contacts.slice(0, contactsShown - this.contacts.length))
  }

  result(refusal: string | undefined): ListCheck {
    const { accepted, rowsInFile, skipped, warnings } = this.summary()
    return {
      ...{ refusal, columns: this.columns, rowsInFile, accepted, skipped, warnings, contacts: this.contacts },
      ...{ missingVariables: this.missingVariables, unusedColumns: this.unusedColumns },
      refused: { rows: this.refusedRows, faults: this.faults },
      repeated: { numbers: this.repeatedNumbers.size, first: [...this.rowsOf].map(([phoneNumber, rows]) => ({ phoneNumber, rows })) }
    }
  }
}
