/** /api/v1/campaign/{campaign_id}/contacts */
import { Effect, Stream } from "effect"
import { contactHeader, contactLine } from "#core/contact/ContactListCsv.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { download, list, route, tagged } from "#gateway/request/Route.ts"
import { csvContent } from "#gateway/file/csvContent.ts"
import { shown } from "#gateway/request/shown.ts"
import { CampaignPath, CampaignProgressWire, progressWire } from "#gateway/wire/Campaign.ts"
import {
  contactAttemptsWire,
  ContactAttemptsWire,
  contactFilterOf,
  ContactFilterQuery,
  ContactListQuery,
  ContactListWire,
  ContactPath,
  contactSelectionOf,
  contactWire,
  MarkContacts,
  markOf
} from "#gateway/wire/Contact.ts"
import { listedByKey } from "#gateway/wire/Page.ts"
import { campaignsTag } from "./campaign.ts"

export const contactRoutes = tagged(campaignsTag, [
  list({
    path: "/api/v1/campaign/:campaign_id/contacts",
    name: "listCampaignContacts",
    summary: "List the contacts of a campaign",
    description:
      "In the order of the list, each with what it waits for at the moment if it is still to be called. `outcome=unknown&reached=unsaid` selects the contacts that a person still has to decide on, and `stop_reason=opted_out` those that were not called, or not called again, because their numbers had opted out.",
    params: CampaignPath,
    query: ContactListQuery,
    success: ContactListWire,
    errors: ["CampaignNotFound"],
    handle: ({ caller, params, query }) =>
      Effect.gen(function* () {
        const contacts = yield* Campaigns.use((_) => _.contacts(caller.organizationId, params.campaign_id, contactSelectionOf(query)))
        const rowNoOf = ({ rowNo }: (typeof contacts)[number]) => rowNo
        return listedByKey({ ...query, offset: 0 }, contacts, rowNoOf, (shown) => ({ contacts: shown.map(contactWire) }))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/contacts/:row_number/attempts",
    name: "listContactAttempts",
    summary: "List the calls to a contact, newest first",
    description:
      "All that are on record, a hundred at most: when each was placed, answered and ended, what came of it, why the line ended, and its run. 404 if the campaign has no such contact.",
    params: ContactPath,
    success: ContactAttemptsWire,
    errors: ["ContactNotFound"],
    handle: ({ caller, params }) =>
      Effect.map(
        Campaigns.use((_) => _.attempts(caller.organizationId, params.campaign_id, params.row_number)),
        contactAttemptsWire
      )
  }),
  download({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/contacts/download",
    name: "downloadCampaignContacts",
    summary: "Download the contacts of a campaign as CSV",
    description:
      "One row for each contact that the filters select, all of them, in the order of the list: its line and phone number, its state, the outcome of its last call, why it is not called any more, when a retry is due, and whether it was reached. `stop_reason=opted_out` gives the contacts that the campaign's log counts under `contacts_opted_out`. Every role may use this. Rows are read from the database while they are sent, and cells that a spreadsheet would take for formulas are made harmless. A campaign that does not exist in the organization is a 404.",
    params: CampaignPath,
    query: ContactFilterQuery,
    mediaTypes: ["text/csv"],
    errors: ["CampaignNotFound"],
    handle: ({ caller, params, query }) =>
      Effect.map(
        Campaigns.use((_) => _.allContacts(caller.organizationId, params.campaign_id, contactFilterOf(query))),
        (batches) => {
          const lines = Stream.map(batches, (contacts) => contacts.map(contactLine).join(""))
          return csvContent(`campaign_${params.campaign_id}_contacts.csv`, contactHeader, lines)
        }
      )
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/contacts/mark",
    name: "markCampaignContacts",
    summary: "Mark contacts with an unknown outcome as reached or not",
    description:
      "Marks all of them or none; a later mark replaces an earlier one. This calls nobody: a redial with `retry_on_unknown` calls the contacts that were not reached.",
    params: CampaignPath,
    body: MarkContacts,
    success: CampaignProgressWire,
    errors: ["CampaignNotFound", "ContactsNotUnknown"],
    handle: ({ body, caller, params }) =>
      Effect.gen(function* () {
        yield* Campaigns.use((_) => _.markContacts(caller.organizationId, params.campaign_id, markOf(body)))
        return yield* Campaigns.use((_) => _.progress(caller.organizationId, params.campaign_id)).pipe(shown(progressWire))
      })
  })
])
