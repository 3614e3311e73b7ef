/**
 * The contacts of a campaign as an operator sees them, and a decision that only a person can make: whether a contact was reached although it
 * is unknown whether its call was placed. Marking a contact calls nobody; a redial does.
 */
import { Clock, Effect, Option, Schema, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { CampaignNotFound } from "./Campaign.ts"
import { type Contact, type ContactFilter, type ContactMark, ContactNotFound, type ContactSelection } from "#core/contact/Contact.ts"
import { listAttempts } from "#core/contact/ContactAttempts.ts"
import * as store from "#core/contact/ContactStore.ts"
import { standing } from "./StandingStore.ts"
import { type Waiting, waitingFor } from "./WaitingFor.ts"

/** These rows do not exist, or the outcome of their last call is not `unknown`. Nothing was marked. */
export class ContactsNotUnknown extends Schema.TaggedError<ContactsNotUnknown>()("ContactsNotUnknown", {
  rowNumbers: Schema.Array(Schema.Int)
}) {}

/** In the order of the file. */
const listContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  selection: ContactSelection
) {
  const contacts = yield* Effect.orDie(store.list(sql, organizationId, id, selection))
  return contacts ?? (yield* new CampaignNotFound({ id }))
})

export interface ListedContact extends Contact {
  /** Undefined for a contact that is in a call, or is not called any more. */
  readonly waiting: Waiting | undefined
}

/** The same, each with what it waits for. */
export const listWaiting = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  selection: ContactSelection
) {
  const contacts = yield* listContacts(sql, organizationId, id, selection)
  const now = yield* Clock.currentTimeMillis
  const campaign = yield* Effect.orDie(standing(sql, organizationId, id, now))
  if (campaign === undefined) return yield* new CampaignNotFound({ id })
  return contacts.map((contact): ListedContact => ({ ...contact, waiting: waitingFor(contact, campaign, now) }))
})

/** The newest first, a hundred at most. */
export const attemptsOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  rowNumber: number
) {
  const attempts = yield* Effect.orDie(listAttempts(sql, organizationId, id, rowNumber))
  return attempts ?? (yield* new ContactNotFound({ rowNumber }))
})

/** How many contacts of a download are in memory at a time. */
const batchRows = 1000

/** All of them, in batches, in the order of the file. */
export const allContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  filter: ContactFilter
) {
  const batch = (after: number | undefined) => listContacts(sql, organizationId, id, { ...filter, after, limit: batchRows })
  const first = yield* batch(undefined)
  const next = (rows: ReadonlyArray<Contact>) => (rows.length < batchRows ? Option.none() : Option.fromUndefinedOr(rows.at(-1)?.rowNo))
  const later = (after: number) =>
    Effect.map(
      Effect.orElseSucceed(batch(after), () => []),
      (rows: ReadonlyArray<Contact>) => [[rows], next(rows)] as const
    )
  return Stream.concat(
    Stream.make(first),
    Option.match(next(first), { onNone: () => Stream.empty, onSome: (after) => Stream.paginate(after, later) })
  )
})

/** Marks all of them or none. A contact that was reached becomes completed, any other failed. A later mark replaces an earlier one. */
export const markContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  { reached, rowNumbers }: ContactMark
) {
  const wanted = [...new Set(rowNumbers)]
  const unknown = yield* Effect.orDie(store.mark(sql, organizationId, id, wanted, reached))
  if (unknown === undefined) return yield* new CampaignNotFound({ id })
  const others = wanted.filter((row) => !unknown.includes(row))
  if (others.length > 0) return yield* new ContactsNotUnknown({ rowNumbers: others })
})
