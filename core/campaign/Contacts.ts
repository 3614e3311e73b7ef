/**
 * The contacts of a campaign as an operator sees them, and what only a person can decide: whether somebody was reached of whose call it
 * could not be learned whether it was placed. Nobody is called by it; whom to call again is said in a redial.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Outcome } from "../call/Outcome.ts"
import type { AgentId, CampaignId, OrganizationId, RunId } from "../Id.ts"
import { CampaignNotFound } from "./Campaign.ts"
import * as store from "./ContactStore.ts"

export const contactStates = ["pending", "dialing", "in_call", "retry_wait", "completed", "failed", "cancelled"] as const
export type ContactState = (typeof contactStates)[number]

export interface Contact {
  /** The line of the list; the header is line 1. */
  readonly rowNo: number
  readonly phoneNumber: string
  readonly state: ContactState
  readonly retriesUsed: number
  /** Of the last call that ended. */
  readonly lastOutcome: Outcome | undefined
  /** When a retry falls due. */
  readonly dueAt: Date | undefined
  /** What a person said; undefined when nobody has. */
  readonly reached: boolean | undefined
  /** The newest call. */
  readonly run: { readonly id: RunId; readonly agentId: AgentId } | undefined
}

export interface ContactSelection {
  readonly state: ContactState | undefined
  readonly outcome: Outcome | undefined
  /** `null`: those of whom nobody has said whether they were reached. */
  readonly reached: boolean | null | undefined
  /** Only lines that follow this one. */
  readonly after: number | undefined
  readonly limit: number
}

/** Their last call has no unknown outcome, or there are no such lines; nothing was marked. */
export class ContactsNotUnknown extends Schema.TaggedError<ContactsNotUnknown>()("ContactsNotUnknown", {
  rowNumbers: Schema.Array(Schema.Int)
}) {}

export interface ContactMark {
  readonly rowNumbers: ReadonlyArray<number>
  readonly reached: boolean
}

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
