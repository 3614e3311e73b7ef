/**
 * The contacts of a campaign as an operator sees them, and a decision that only a person can make: whether a contact was reached although it
 * is unknown whether its call was placed. Marking a contact calls nobody; a redial does.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { CampaignNotFound } from "./Campaign.ts"
import type { ContactMark, ContactSelection } from "#core/contact/Contact.ts"
import * as store from "#core/contact/ContactStore.ts"

/** These rows do not exist, or the outcome of their last call is not `unknown`. Nothing was marked. */
export class ContactsNotUnknown extends Schema.TaggedError<ContactsNotUnknown>()("ContactsNotUnknown", {
  rowNumbers: Schema.Array(Schema.Int)
}) {}

/** In the order of the file. */
export const listContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  selection: ContactSelection
) {
  const contacts = yield* Effect.orDie(store.list(sql, organizationId, id, selection))
  return contacts ?? (yield* new CampaignNotFound({ id }))
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
