/** /api/v1/campaign/{campaign_id}/contacts */
import { Effect } from "effect"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { shown } from "#gateway/request/shown.ts"
import { CampaignPath, CampaignProgressWire, progressWire } from "#gateway/wire/Campaign.ts"
import { ContactListQuery, ContactListWire, contactSelectionOf, contactWire, MarkContacts, markOf } from "#gateway/wire/Contact.ts"
import { listedByKey } from "#gateway/wire/Page.ts"
import { campaignsTag } from "./campaign.ts"

export const contactRoutes = tagged(campaignsTag, [
  list({
    path: "/api/v1/campaign/:campaign_id/contacts",
    name: "listCampaignContacts",
    summary: "List the contacts of a campaign",
    description: "In the order of the list. `outcome=unknown&reached=unsaid` selects the contacts that a person still has to decide on.",
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
