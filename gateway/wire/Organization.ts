/** Organizations: their members, their settings and their audit log. */
import Type, { type Static } from "typebox"
import { isTimeZone } from "#core/TimeZone.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { AuditRecord } from "#core/organization/AuditEntry.ts"
import type { ApiKeyId, UserId } from "#core/organization/Caller.ts"
import type { Member } from "#core/organization/Member.ts"
import type { ModelDocument } from "#core/model/ModelDocument.ts"
import type { Concurrency, Preferences } from "#core/organization/Organization.ts"
import { recordingFormats } from "#core/file/RecordingFormat.ts"
import type { Retention } from "#core/file/Retention.ts"
import { RoleWire } from "./Account.ts"
import { clearable, id, instant, nullable, optional, orUndefined } from "#gateway/request/Field.ts"
import { ModelSource, sourceOf } from "./ModelSource.ts"

export const MemberPath = Type.Object({ user_id: id<UserId>() })

export const ChangeMember = Type.Object({ role: RoleWire }, { title: "ChangeMember" })

export const MemberWire = Type.Object(
  { user_id: id<UserId>(), email: Type.String(), name: nullable(Type.String()), role: RoleWire, created_at: instant() },
  { title: "Member" }
)
export const MemberList = Type.Object({ members: Type.Array(MemberWire) }, { title: "MemberList" })

export const memberWire = (member: Member): Static<typeof MemberWire> => ({
  user_id: member.userId,
  email: member.email,
  name: member.name,
  role: member.role,
  created_at: member.createdAt.toISOString()
})

export const ContextWire = Type.Object(
  {
    organization_id: id<OrganizationId>(),
    organization_provider_id: nullable(Type.String()),
    model_services: Type.Object(
      {
        config_source: ModelSource,
        has_model_configuration_v2: Type.Boolean({
          description: "Whether `/organizations/model-configurations/v2` shows a configuration."
        }),
        managed_service_version: Type.Null(),
        uses_managed_service_v2: Type.Literal(false)
      },
      { title: "ModelServices", description: "There are no managed services here." }
    )
  },
  { title: "OrganizationContext" }
)

export const contextWire = (
  organizationId: OrganizationId,
  providerId: string | null,
  models: ModelDocument | undefined
): Static<typeof ContextWire> => ({
  organization_id: organizationId,
  organization_provider_id: providerId,
  model_services: {
    config_source: sourceOf(models),
    has_model_configuration_v2: sourceOf(models) === "organization_v2",
    managed_service_version: null,
    uses_managed_service_v2: false
  }
})

export const TestPhoneNumber = Type.String({ maxLength: 64 })
export const TimeZone = Type.Refine(
  Type.String({ maxLength: 64, description: "An IANA name, such as `Europe/Berlin`." }),
  isTimeZone,
  (name) => `Invalid timezone: ${name}`
)

export const PreferencesWire = Type.Object(
  {
    test_phone_number: optional(TestPhoneNumber),
    timezone: optional(TimeZone),
    external_pbx_integrations_enabled: Type.Boolean({ default: false })
  },
  { title: "OrganizationPreferences" }
)

export const preferencesOf = (body: Static<typeof PreferencesWire>): Preferences => ({
  testPhoneNumber: body.test_phone_number,
  timezone: body.timezone,
  externalPbxIntegrationsEnabled: body.external_pbx_integrations_enabled
})

export const preferencesWire = (preferences: Preferences): Static<typeof PreferencesWire> => ({
  test_phone_number: preferences.testPhoneNumber,
  timezone: preferences.timezone,
  external_pbx_integrations_enabled: preferences.externalPbxIntegrationsEnabled
})

const mostCalls = 100_000
const mostDays = 36_500
const days = (what: string) =>
  Type.Integer({
    minimum: 1,
    maximum: mostDays,
    description: `Days after which ${what} of calls are deleted. Null: never.`
  })
const format = Type.Enum([...recordingFormats], {
  description:
    "The format in which recordings of calls that end from now on are kept: `wav`, or `opus` (in Ogg), which is encoded after the call. Null: the operator's default."
})
const calls = (description: string) => Type.Integer({ minimum: 0, maximum: mostCalls, description })

const kept = (what: string) => Type.Boolean({ description: `Whether calls that begin from now on are ${what}.` })

export const SettingsWire = Type.Object(
  {
    concurrency_limit: calls("Calls that may be up at once. `0`: none."),
    concurrency_reserve: calls("How many of these are reserved for calls outside campaigns."),
    recordings_days: nullable(days("recordings")),
    transcripts_days: nullable(days("transcripts")),
    recordings_enabled: kept("recorded"),
    transcripts_enabled: kept(
      "transcribed; if not, nothing that is said or handed to a tool is stored or shown, but variables and keys are"
    ),
    recording_format: nullable(format)
  },
  { title: "OrganizationSettings" }
)

export const SetSettings = Type.Refine(
  Type.Object(
    {
      ...SettingsWire.properties,
      recordings_days: clearable(days("recordings")),
      transcripts_days: clearable(days("transcripts")),
      recordings_enabled: optional(kept("recorded. Left out: as before")),
      transcripts_enabled: optional(kept("transcribed. Left out: as before")),
      recording_format: clearable(format)
    },
    { title: "SetOrganizationSettings" }
  ),
  (given) => given.concurrency_reserve <= given.concurrency_limit,
  () => "concurrency_reserve must not be above concurrency_limit"
)

export const retentionOf = (given: Static<typeof SetSettings>): Partial<Retention> => {
  const { recording_format, recordings_days, recordings_enabled, transcripts_days, transcripts_enabled } = given
  return {
    ...(recordings_enabled === undefined || recordings_enabled === null ? {} : { keepsRecordings: recordings_enabled }),
    ...(transcripts_enabled === undefined || transcripts_enabled === null ? {} : { keepsTranscripts: transcripts_enabled }),
    ...(recording_format === undefined ? {} : { recordingFormat: recording_format }),
    ...(recordings_days === undefined ? {} : { recordingsDays: recordings_days }),
    ...(transcripts_days === undefined ? {} : { transcriptsDays: transcripts_days })
  }
}

export const concurrencyOf = (body: Static<typeof SetSettings>): Concurrency => ({
  limit: body.concurrency_limit,
  reserve: body.concurrency_reserve
})

export const settingsWire = ({ limit, reserve }: Concurrency, kept: Retention): Static<typeof SettingsWire> => ({
  concurrency_limit: limit,
  concurrency_reserve: reserve,
  recordings_days: kept.recordingsDays,
  transcripts_days: kept.transcriptsDays,
  recordings_enabled: kept.keepsRecordings,
  transcripts_enabled: kept.keepsTranscripts,
  recording_format: kept.recordingFormat
})

export const AuditLogQuery = Type.Object({
  before: optional(Type.Integer({ minimum: 1, description: "Only entries older than this one: `next_before` of the previous page." })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 })
})

const AuditEntryWire = Type.Object(
  {
    id: Type.Integer(),
    at: instant(),
    user_id: nullable(id<UserId>("Who logged in or created the key; for a wrong password, the user whose login was tried.")),
    user_email: nullable(Type.String()),
    api_key_id: nullable(id<ApiKeyId>("The key that the request was made with.")),
    api_key_name: nullable(Type.String()),
    action: Type.String({ description: "The operation's name in this documentation; `logInRefused` for a wrong password." }),
    resource_kind: Type.String(),
    resource_id: nullable(Type.String()),
    address: nullable(Type.String({ description: "The network address that the request came from." }))
  },
  { title: "AuditEntry" }
)
export const AuditLogWire = Type.Object(
  { entries: Type.Array(AuditEntryWire), next_before: nullable(Type.Integer({ description: "Null on the last page." })) },
  { title: "AuditLog" }
)

export const auditPageOf = ({ before, limit }: Static<typeof AuditLogQuery>) => ({ before: orUndefined(before), limit })

/** `entries` has one more than `limit` if there are older ones. */
export const auditLogWire = (entries: ReadonlyArray<AuditRecord>, limit: number): Static<typeof AuditLogWire> => {
  const shown = entries.slice(0, limit)
  return {
    entries: shown.map((entry) => ({
      id: entry.id,
      at: entry.at.toISOString(),
      user_id: entry.userId,
      user_email: entry.userEmail,
      api_key_id: entry.apiKeyId,
      api_key_name: entry.apiKeyName,
      action: entry.action,
      resource_kind: entry.resourceKind,
      resource_id: entry.resourceId,
      address: entry.address
    })),
    next_before: entries.length > limit ? (shown.at(-1)?.id ?? null) : null
  }
}
