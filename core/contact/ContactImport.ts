/** Reads a list of contacts into a new campaign, a few hundred at a time, in the transaction that creates the campaign. */
import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { type SourceRecords, SourceRefused, type SourceVariables } from "./ContactSource.ts"
import { begin, type ContactRow, type CsvOptions, type CsvReader, type CsvRefused } from "./ContactCsv.ts"
import { maxRows } from "./CsvFaults.ts"
import * as store from "./ContactStore.ts"

type Rows = ReadonlyArray<ReadonlyArray<string>>
/** Blank records do not count for the reader either. */
const isBlank = (cells: ReadonlyArray<string>): boolean => cells.length <= 1 && (cells[0] ?? "") === ""

interface OpenList {
  readonly header: ReadonlyArray<string>
  /** The reader of the rows, unless the header is refused. */
  readonly begun: Result.Result<CsvReader, CsvRefused>
  readonly firstRows: Rows
}

export const openList = (records: SourceRecords, options: Omit<CsvOptions, "plan">): Effect.Effect<OpenList, SourceRefused> =>
  Effect.map(records.next, ([header = [], ...firstRows]) => ({
    ...{ header, firstRows },
    begun: begin(header, { ...options, plan: records.plan })
  }))

/** Hands the contacts over as they are read, and the next ones are read meanwhile. The reader then knows what came of all rows. */
export const readRows = Effect.fnUntraced(function* (
  records: SourceRecords,
  { firstRows, reader }: { readonly firstRows: Rows; readonly reader: CsvReader },
  take: (contacts: ReadonlyArray<ContactRow>) => Effect.Effect<unknown, SourceRefused>
) {
  let rows = firstRows
  let read = 0
  do {
    read += rows.filter((cells) => !isBlank(cells)).length
    const contacts = rows.flatMap((cells) => reader.row(cells) ?? [])
    const taken = contacts.length === 0 ? Effect.void : take(contacts)
    ;[, rows] = yield* Effect.all([taken, records.next], { concurrency: 2 })
    // Stops reading as soon as the list is known to be too long.
  } while (rows.length > 0 && read <= maxRows)
})

export const importContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  campaign: { readonly organizationId: OrganizationId; readonly id: CampaignId },
  records: SourceRecords,
  options: Omit<CsvOptions, "plan">
) {
  const { begun, firstRows } = yield* openList(records, options)
  const reader = yield* orRefused(begun)
  const variables = new VariablesSeen()
  yield* readRows(records, { firstRows, reader }, (contacts) => {
    contacts.forEach(variables.add)
    return Effect.orDie(store.insert(sql, campaign, contacts))
  })
  const summary = yield* orRefused(reader.end())
  return { summary, hash: yield* records.hash, variables: variables.result() }
})

const orRefused = <A>(result: Result.Result<A, CsvRefused>): Effect.Effect<A, SourceRefused> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(new SourceRefused({ reason: result.failure.message }))

/** Collects the names that templates can use with these contacts. All contacts of a list have the same names. */
class VariablesSeen {
  private filled: ReadonlyArray<string> | undefined
  private readonly empty = new Set<string>()

  readonly add = ({ context }: ContactRow): void => {
    this.filled ??= Object.keys(context)
    if (this.filled.length === 0) return
    this.filled = this.filled.filter((name) => {
      const isFilled = (context[name] ?? "").trim() !== ""
      if (!isFilled) this.empty.add(name)
      return isFilled
    })
  }

  readonly result = (): SourceVariables => ({ names: [...(this.filled ?? []), ...this.empty], empty: [...this.empty] })
}
