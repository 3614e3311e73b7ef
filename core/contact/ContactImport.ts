/** Reads a list of contacts into a new campaign, a few hundred at a time, in the transaction that creates the campaign. */
import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { Extensions } from "#core/telephony/Extensions.ts"
import { type SourceRecords, SourceRefused, type SourceVariables } from "./ContactSource.ts"
import { begin, type ContactRow, type CsvRefused, maxRows } from "./ContactCsv.ts"
import * as store from "./ContactStore.ts"

type Rows = ReadonlyArray<ReadonlyArray<string>>
/** Blank records do not count for the reader either. */
const isBlank = (cells: ReadonlyArray<string>): boolean => cells.length <= 1 && (cells[0] ?? "") === ""

export const importContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  campaign: { readonly organizationId: OrganizationId; readonly id: CampaignId },
  records: SourceRecords,
  requiredVariables: ReadonlyArray<string>,
  extensions: Extensions
) {
  const [header = [], ...firstRows] = yield* records.next
  const reader = yield* orRefused(begin(header, { extensions, requiredVariables, plan: records.plan }))
  const variables = new VariablesSeen()
  let rows: Rows = firstRows
  let read = 0
  do {
    read += rows.filter((cells) => !isBlank(cells)).length
    const contacts = rows.flatMap((cells) => reader.row(cells) ?? [])
    contacts.forEach(variables.add)
    // The database inserts these while the next ones are read.
    const insert = contacts.length === 0 ? Effect.void : store.insert(sql, campaign, contacts)
    ;[, rows] = yield* Effect.all([insert, records.next], { concurrency: 2 })
    // Stops reading as soon as the list is known to be too long.
  } while (rows.length > 0 && read <= maxRows)
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
