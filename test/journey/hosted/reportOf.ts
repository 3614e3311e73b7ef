/** A campaign's report, as a spreadsheet would read it, and what its breaker counted. */
import { parse } from "csv-parse/sync"
import type { World } from "#test/support/engine.ts"

export interface ReportRow {
  /** Our id of the call. */
  readonly callId: string
  /** The engine that carried it. */
  readonly node: string
  readonly number: string
  /** Counted from 1. */
  readonly attempt: number
  readonly outcome: string
  readonly isFinal: boolean
  readonly createdAt: number
  /** Whether the breaker counts it as a failure. */
  readonly isBreakerFailure: boolean
}

export const reportOf = async (world: World, id: number): Promise<ReadonlyArray<ReportRow>> => {
  const response = await fetch(`${world.engine.url}/api/v1/campaign/${id}/report`, { headers: { "x-api-key": world.apiKey } })
  // The cast holds because all cells of a CSV are texts.
  const rows = parse(await response.text(), { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>
  const counted = await world.sql<
    Array<{ readonly breaker_failure: boolean | null; readonly id: string; readonly key: string; readonly node: string }>
  >`
    SELECT phone_number || ' ' || number AS key, id, node, breaker_failure FROM attempts WHERE campaign_id = ${id} AND state = 'ended'`
  const attempts = new Map(counted.map((attempt) => [attempt.key, attempt]))
  const attemptOf = (row: Readonly<Record<string, string>>) => attempts.get(`${row["Phone Number"]} ${row["Attempt"]}`)
  return rows.map((row) => ({
    callId: attemptOf(row)?.id ?? "",
    node: attemptOf(row)?.node ?? "",
    number: row["Phone Number"] ?? "",
    attempt: Number(row["Attempt"]),
    isBreakerFailure: attemptOf(row)?.breaker_failure === true,
    outcome: row["Outcome"] ?? "",
    isFinal: row["Final"] === "yes",
    createdAt: Date.parse(row["Created At"] ?? "")
  }))
}
