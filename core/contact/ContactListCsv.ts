/** The contacts of a campaign, and what became of them, as CSV. */
import { byteOrderMark, csvLine } from "#core/SpreadsheetCsv.ts"
import type { Contact } from "./Contact.ts"

export const contactHeader =
  byteOrderMark +
  csvLine([...["Row", "Phone Number", "State", "Retries Used", "Last Outcome", "Stop Reason"], ...["Due At", "Reached", "Run ID"]])

export const contactLine = (contact: Contact): string =>
  csvLine([
    ...[contact.rowNo, contact.phoneNumber, contact.state, contact.retriesUsed, contact.lastOutcome, contact.stopReason],
    ...[contact.dueAt?.toISOString(), contact.reached === undefined ? undefined : contact.reached ? "yes" : "no", contact.run?.id]
  ])
