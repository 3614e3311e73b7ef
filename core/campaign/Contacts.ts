/**
 * The contacts of a campaign as an operator sees them, and what only a person can decide: whether somebody was reached of whose call it
 * could not be learned whether it was placed. Nobody is called by it; whom to call again is said in a redial.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { CampaignNotFound } from "./Campaign.ts"
import type { ContactMark, ContactSelection } from "#core/contact/Contact.ts"
import * as store from "#core/contact/ContactStore.ts"

/** Their last call has no unknown outcome, or there are no such lines; nothing was marked. */
export class ContactsNotUnknown extends Schema.TaggedError<ContactsNotUnknown>()("ContactsNotUnknown", {
  rowNumbers: Schema.Array(Schema.Int)
}) {}

/** In the order of their lines. */
export const listContacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  selection: ContactSelection
) {
  const contacts = yield* Effect.orDie(store.list(sql, organizationId, id, selection))
  return contacts ?? (yield* new CampaignNotFound({ id }))
})

/** All of them or none. Whoever was reached is completed, and whoever was not has failed; the last word counts. */
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
