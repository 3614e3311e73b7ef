/** The branded ids of all tables: numbers that the API shows, and a UUID for what a provider carries. */
import { Schema } from "effect"
import { uuidPattern } from "./Uuid.ts"

export const OrganizationId = Schema.Int.pipe(Schema.brand("OrganizationId"))
export type OrganizationId = typeof OrganizationId.Type
export const AgentId = Schema.Int.pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type
export const AgentDefinitionId = Schema.Int.pipe(Schema.brand("AgentDefinitionId"))
export type AgentDefinitionId = typeof AgentDefinitionId.Type
export const TelephonyConfigId = Schema.Int.pipe(Schema.brand("TelephonyConfigId"))
export type TelephonyConfigId = typeof TelephonyConfigId.Type
export const PhoneNumberId = Schema.Int.pipe(Schema.brand("PhoneNumberId"))
export type PhoneNumberId = typeof PhoneNumberId.Type
export const CampaignId = Schema.Int.pipe(Schema.brand("CampaignId"))
export type CampaignId = typeof CampaignId.Type
export const RunId = Schema.Int.pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type
export const ToolId = Schema.Int.pipe(Schema.brand("ToolId"))
export type ToolId = typeof ToolId.Type
export const RecordingId = Schema.Int.pipe(Schema.brand("RecordingId"))
export type RecordingId = typeof RecordingId.Type
export const DocumentId = Schema.Int.pipe(Schema.brand("DocumentId"))
export type DocumentId = typeof DocumentId.Type

/**
 * Identifies one attempt to reach one number, and the call that it becomes: a lower-case UUID. It is passed to the provider (to ARI, for
 * example, as the channel id), so that events can be matched before any reply. Always 36 characters, because Asterisk compares channel ids as
 * prefixes.
 */
export const CallId = Schema.String.check(Schema.isPattern(new RegExp(`^${uuidPattern}$`))).pipe(Schema.brand("CallId"))
export type CallId = typeof CallId.Type
