import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "../Id.ts"
import type { ContactRow } from "./ContactCsv.ts"

/** The greeting of a contact's own stands in its context, where the API shows it. */
const contextOf = ({ context, greetingOverride }: ContactRow): string => {
  if (greetingOverride === undefined) return JSON.stringify(context)
  const greeting = greetingOverride.type === "text" ? greetingOverride : { type: "audio", recording_id: greetingOverride.recordingId }
  return JSON.stringify({ ...context, greeting_override: greeting })
}

/** Three arrays instead of a row of parameters each: one statement whatever the number of contacts. */
export const insert = (
  sql: SqlClient.SqlClient,
  campaign: { readonly organizationId: OrganizationId; readonly id: CampaignId },
  contacts: ReadonlyArray<ContactRow>
) => sql`
  INSERT INTO contacts (campaign_id, organization_id, row_no, phone_number, context)
  SELECT ${campaign.id}::int, ${campaign.organizationId}::int, c.row_no, c.phone_number, c.context::jsonb
  FROM unnest(${contacts.map(({ rowNumber }) => rowNumber)}::int[], ${contacts.map(({ phoneNumber }) => phoneNumber)}::text[],
    ${contacts.map(contextOf)}::text[]) AS c (row_no, phone_number, context)`
