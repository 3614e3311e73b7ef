/** The contacts of a campaign, and marks of whether those whose call had an unknown outcome were reached. */
import Type, { type Static } from "typebox"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import { Outcome } from "#core/outcome/Outcome.ts"
import type { ListedContact } from "#core/campaign/Contacts.ts"
import { waitReasons } from "#core/campaign/WaitingFor.ts"
import { attemptStates, type ContactAttempt } from "#core/contact/ContactAttempts.ts"
import { type ContactFilter, type ContactMark, type ContactSelection, contactStates } from "#core/contact/Contact.ts"
import type { AgentId, CampaignId, RunId } from "#core/Id.ts"
import { id, instant, instantOf, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

const OutcomeWire = Type.Enum([...Outcome.literals])
const ContactStateWire = Type.Enum([...contactStates])
const mostRows = 1000

/** Characters, with whatever people write between digits. */
const longestNumber = 40
const filters = {
  number: optional(
    Type.String({
      pattern: "^(\\D*\\d){3}",
      maxLength: longestNumber,
      description: "A part of the phone number, at least three digits. Only digits are compared."
    })
  ),
  state: optional(ContactStateWire),
  outcome: optional(OutcomeWire),
  reached: optional(
    Type.Enum(["yes", "no", "unsaid"], {
      description: "Whether a person has said that the contact was reached; `unsaid`: nobody has said anything."
    })
  ),
  stop_reason: optional(
    Type.Literal("opted_out", { description: "Contacts that are not called, or not called again, because their numbers have opted out." })
  )
}
export const ContactFilterQuery = Type.Object(filters)
export const ContactListQuery = Type.Object({
  ...filters,
  limit: Type.Integer({ minimum: 1, maximum: mostRows, default: mostRows }),
  after: optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: "The last row of the previous page." }))
})

const said = { yes: true, no: false, unsaid: null } as const

export const contactFilterOf = (query: Static<typeof ContactFilterQuery>): ContactFilter => ({
  state: orUndefined(query.state),
  outcome: orUndefined(query.outcome),
  reached: query.reached === null ? undefined : said[query.reached],
  number: orUndefined(query.number)?.replaceAll(/\D/g, ""),
  stopReason: orUndefined(query.stop_reason)
})

/** One contact more than the page shows. */
export const contactSelectionOf = (query: Static<typeof ContactListQuery>): ContactSelection => ({
  ...contactFilterOf(query),
  after: orUndefined(query.after),
  limit: query.limit + 1
})

const ContactWire = Type.Object(
  {
    row_number: Type.Integer({ description: "The line of the list; the header is line 1." }),
    phone_number: Type.String(),
    state: ContactStateWire,
    retries_used: Type.Integer(),
    last_outcome: nullable(OutcomeWire),
    stop_reason: nullable(
      Type.Literal("opted_out", {
        description:
          "The number has opted out. A contact that was never dialed is cancelled, and a retry fails, when its turn comes while the campaign runs."
      })
    ),
    due_at: nullable(instant()),
    waiting_for: nullable(
      Type.Enum([...waitReasons], {
        description:
          "What a contact that is still to be called waits for; null for any other. `campaign_not_running`: the campaign is a draft or paused, and its log says why. `retry_due`: its retry, until `due_at`. `window`: the calling window, until `window_opens_at`. `trunk_down`: the telephony provider cannot be reached. `number_in_call`: another call of the organization has the number. `slot`: as many calls are up as may be, of the campaign, the organization or the telephony configuration. `turn`: others come first, or nothing is known to be in its way."
      })
    ),
    window_opens_at: nullable(instant("With `waiting_for` `window` only; null also if the window never opens.")),
    reached: nullable(
      Type.Boolean({ description: "Whether the contact was reached by a call with an unknown outcome, as a person has said." })
    ),
    run: nullable(Type.Object({ id: id<RunId>(), workflow_id: id<AgentId>() }, { title: "ContactRun", description: "The newest call." }))
  },
  { title: "Contact" }
)

export const contactWire = (contact: ListedContact): Static<typeof ContactWire> => ({
  row_number: contact.rowNo,
  phone_number: contact.phoneNumber,
  state: contact.state,
  retries_used: contact.retriesUsed,
  last_outcome: orNull(contact.lastOutcome),
  stop_reason: orNull(contact.stopReason),
  due_at: instantOf(contact.dueAt),
  waiting_for: orNull(contact.waiting?.reason),
  window_opens_at: instantOf(contact.waiting?.windowOpensAt),
  reached: orNull(contact.reached),
  run: contact.run === undefined ? null : { id: contact.run.id, workflow_id: contact.run.agentId }
})

export const ContactListWire = Type.Object({ contacts: Type.Array(ContactWire) }, { title: "ContactList" })

export const ContactPath = Type.Object({
  campaign_id: id<CampaignId>(),
  row_number: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "The line of the list; the header is line 1." })
})

const ContactAttemptWire = Type.Object(
  {
    call_id: Type.String({ description: "As in the events of the call, and in the engine's log." }),
    number: Type.Integer({ description: "1 is the first call. An attempt that was never placed leaves its number to the next." }),
    state: Type.Enum([...attemptStates], {
      description: "`sent`: the request has left. `void`: the call was certainly never placed, and does not count."
    }),
    created_at: instant(),
    sent_at: nullable(instant()),
    answered_at: nullable(instant()),
    ended_at: nullable(instant()),
    outcome: nullable(OutcomeWire),
    hangup_cause: nullable(Type.Enum([...HangupCause.literals])),
    run: nullable(Type.Object({ id: id<RunId>(), workflow_id: id<AgentId>() }, { title: "AttemptRun" }))
  },
  { title: "ContactAttempt" }
)

const contactAttemptWire = (attempt: ContactAttempt): Static<typeof ContactAttemptWire> => ({
  call_id: attempt.callId,
  number: attempt.number,
  state: attempt.state,
  created_at: attempt.createdAt.toISOString(),
  sent_at: instantOf(attempt.sentAt),
  answered_at: instantOf(attempt.answeredAt),
  ended_at: instantOf(attempt.endedAt),
  outcome: orNull(attempt.outcome),
  hangup_cause: orNull(attempt.cause),
  run: attempt.run === undefined ? null : { id: attempt.run.id, workflow_id: attempt.run.agentId }
})

export const ContactAttemptsWire = Type.Object({ attempts: Type.Array(ContactAttemptWire) }, { title: "ContactAttempts" })
export const contactAttemptsWire = (attempts: ReadonlyArray<ContactAttempt>): Static<typeof ContactAttemptsWire> => ({
  attempts: attempts.map(contactAttemptWire)
})

export const MarkContacts = Type.Object(
  {
    row_numbers: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { minItems: 1, maxItems: mostRows }),
    reached: Type.Boolean({ description: "True marks the contacts as completed, false as failed." })
  },
  { title: "MarkContacts" }
)

export const markOf = ({ reached, row_numbers }: Static<typeof MarkContacts>): ContactMark => ({ reached, rowNumbers: row_numbers })
