/** The contacts of a campaign, and marks of whether those whose call had an unknown outcome were reached. */
import Type, { type Static } from "typebox"
import { Outcome } from "#core/outcome/Outcome.ts"
import { type Contact, type ContactFilter, type ContactMark, type ContactSelection, contactStates } from "#core/contact/Contact.ts"
import type { AgentId, RunId } from "#core/Id.ts"
import { id, instant, instantOf, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

const OutcomeWire = Type.Enum([...Outcome.literals])
const ContactStateWire = Type.Enum([...contactStates])
const mostRows = 1000

const filters = {
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
    reached: nullable(
      Type.Boolean({ description: "Whether the contact was reached by a call with an unknown outcome, as a person has said." })
    ),
    run: nullable(Type.Object({ id: id<RunId>(), workflow_id: id<AgentId>() }, { title: "ContactRun", description: "The newest call." }))
  },
  { title: "Contact" }
)

export const contactWire = (contact: Contact): Static<typeof ContactWire> => ({
  row_number: contact.rowNo,
  phone_number: contact.phoneNumber,
  state: contact.state,
  retries_used: contact.retriesUsed,
  last_outcome: orNull(contact.lastOutcome),
  stop_reason: orNull(contact.stopReason),
  due_at: instantOf(contact.dueAt),
  reached: orNull(contact.reached),
  run: contact.run === undefined ? null : { id: contact.run.id, workflow_id: contact.run.agentId }
})

export const ContactListWire = Type.Object({ contacts: Type.Array(ContactWire) }, { title: "ContactList" })

export const MarkContacts = Type.Object(
  {
    row_numbers: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { minItems: 1, maxItems: mostRows }),
    reached: Type.Boolean({ description: "True marks the contacts as completed, false as failed." })
  },
  { title: "MarkContacts" }
)

export const markOf = ({ reached, row_numbers }: Static<typeof MarkContacts>): ContactMark => ({ reached, rowNumbers: row_numbers })
