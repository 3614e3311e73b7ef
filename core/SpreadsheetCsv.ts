/**
 * CSV (RFC 4180) for spreadsheets. A cell that a spreadsheet would take for a formula gets a leading `'`; phone numbers, which are harmless, do
 * not. Some spreadsheets also split cells at other separators, or at line ends within quotes, so a formula could begin there as well.
 */

/** The byte order mark tells programs that the text is UTF-8; it comes first. */
export const byteOrderMark = "\uFEFF"
// The wide forms are read as formulas where Japanese or Chinese is written.
const formulaSign = /(^|[\r\n\t,;|"'])([\t\r]|[ \u00a0]*[=+\-@\uff0b\uff0d\uff1d\uff20])/g
const phoneNumber = /^\+\d+$/

const cell = (text: string): string => {
  const safe = phoneNumber.test(text) ? text : text.replace(formulaSign, "$1'$2")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** With its line end. Nothing is an empty cell, and an object is JSON. */
export const csvLine = (cells: ReadonlyArray<unknown>): string => `${cells.map((value) => cell(textOf(value))).join(",")}\r\n`
