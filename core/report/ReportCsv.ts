/**
 * A report as CSV (RFC 4180) for spreadsheets. A cell that a spreadsheet would take for a formula gets a leading `'`; phone numbers, which are
 * harmless, do not. Some spreadsheets also split cells at other separators, or at line ends within quotes, so a formula could begin there as well.
 */
import type { ReportRow } from "./Report.ts"

const before = [
  ...["Run ID", "Campaign ID", "Agent ID", "Agent Definition ID", "Created At"],
  ...["Phone Number", "Call Disposition", "Call Duration (s)"]
]
const after = ["Call Tags", "Transcript URL", "Recording URL", "Row", "Attempt", "Outcome", "Final", "From Number"]
const fixed: ReadonlySet<string> = new Set([...before, ...after])

/** The byte order mark tells programs that the text is UTF-8. */
const byteOrderMark = "\uFEFF"
// The wide forms are read as formulas where Japanese or Chinese is written.
const formulaSign = /(^|[\r\n\t,;|"'])([\t\r]|[ \u00a0]*[=+\-@\uff0b\uff0d\uff1d\uff20])/g
const phoneNumber = /^\+\d+$/

const cell = (text: string): string => {
  const safe = phoneNumber.test(text) ? text : text.replace(formulaSign, "$1'$2")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const line = (cells: ReadonlyArray<string>): string => `${cells.map(cell).join(",")}\r\n`

export const headerOf = (variables: ReadonlyArray<string>): string =>
  byteOrderMark + line([...before, ...variables.map((name) => (fixed.has(name) ? `var:${name}` : name)), ...after])

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

interface FileUrls {
  readonly transcript: string | null
  readonly recording: string | null
}

export const lineOf = (row: ReportRow, variables: ReadonlyArray<string>, urls: FileUrls): string =>
  line(
    [
      ...[row.id, row.campaignId, row.agentId, row.definitionId, row.createdAt.toISOString()],
      ...[row.phoneNumber, row.disposition, row.durationSeconds],
      ...variables.map((name) => (Object.hasOwn(row.variables, name) ? row.variables[name] : undefined)),
      ...[row.tags.join(", "), urls.transcript, urls.recording, row.rowNo, row.attempt, row.outcome],
      ...[row.isFinal ? "yes" : "no", row.fromNumber]
    ].map(textOf)
  )
