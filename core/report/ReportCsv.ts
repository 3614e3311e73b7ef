/** A report as CSV. */
import { byteOrderMark, csvLine } from "#core/SpreadsheetCsv.ts"
import type { ReportRow } from "./Report.ts"

const before = [
  ...["Run ID", "Campaign ID", "Agent ID", "Agent Definition ID", "Created At"],
  ...["Phone Number", "Call Disposition", "Call Duration (s)"]
]
const after = ["Call Tags", "Transcript URL", "Recording URL", "Row", "Attempt", "Outcome", "Final", "From Number"]
const fixed: ReadonlySet<string> = new Set([...before, ...after])

export const headerOf = (variables: ReadonlyArray<string>): string =>
  byteOrderMark + csvLine([...before, ...variables.map((name) => (fixed.has(name) ? `var:${name}` : name)), ...after])

interface FileUrls {
  readonly transcript: string | null
  readonly recording: string | null
}

export const lineOf = (row: ReportRow, variables: ReadonlyArray<string>, urls: FileUrls): string =>
  csvLine([
    ...[row.id, row.campaignId, row.agentId, row.definitionId, row.createdAt.toISOString()],
    ...[row.phoneNumber, row.disposition, row.durationSeconds],
    ...variables.map((name) => (Object.hasOwn(row.variables, name) ? row.variables[name] : undefined)),
    ...[row.tags.join(", "), urls.transcript, urls.recording, row.rowNo, row.attempt, row.outcome],
    ...[row.isFinal ? "yes" : "no", row.fromNumber]
  ])
