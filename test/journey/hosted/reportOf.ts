/** A campaign's report, as a spreadsheet would read it, and what its breaker has counted of it. */
import { parse } from "csv-parse/sync"
import type { World } from "#test/support/engine.ts"

export interface ReportRow {
  readonly number: string
  /** From 1. */
  readonly attempt: number
  readonly outcome: string
  readonly isFinal: boolean
  readonly createdAt: number
  /** The breaker counts it as a failure. */
  readonly isBreakerFailure: boolean
}

export const reportOf = async (world: World, id: number): Promise<ReadonlyArray<ReportRow>> => {
  const response = await fetch(`${world.engine.url}/api/v1/campaign/${id}/report`, { headers: { "x-api-key": world.apiKey } })
  // All cells of a CSV are texts.
  const rows = parse(await response.text(), { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>
  const counted = await world.sql<Array<{ readonly key: string }>>`
    SELECT phone_number || ' ' || number AS key FROM attempts WHERE campaign_id = ${id} AND state = 'ended' AND breaker_failure`
  const failures = new Set(counted.map(({ key }) => key))
  return rows.map((row) => ({
    number: row["Phone Number"] ?? "",
    attempt: Number(row["Attempt"]),
    isBreakerFailure: failures.has(`${row["Phone Number"]} ${row["Attempt"]}`),
    outcome: row["Outcome"] ?? "",
    isFinal: row["Final"] === "yes",
    createdAt: Date.parse(row["Created At"] ?? "")
  }))
}
