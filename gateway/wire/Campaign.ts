/** `/campaign`: the JSON that clients send, and the JSON of a campaign and its progress. */
import Type, { type Static, type TSchema } from "typebox"
import { type SourceSync, shownState, shownStates } from "#core/campaign/Campaign.ts"
import type { CampaignDefaults } from "#core/campaign/CampaignDefaults.ts"
import { campaignEvents, type CampaignLogEntry } from "#core/CampaignLog.ts"
import type { CampaignProgress } from "#core/campaign/CampaignProgress.ts"
import type { AdvisedCampaign, LoggedCampaign } from "#core/campaign/Campaigns.ts"
import type { NewCampaign } from "#core/campaign/Creation.ts"
import type { CampaignChanges, OfferedColumn, SettingColumn } from "#core/campaign/CampaignSettings.ts"
import type { NewRedial } from "#core/campaign/Redial.ts"
import { complete } from "#core/campaign/RetryPolicy.ts"
import type { Compatibility } from "#core/Compatibility.ts"
import type { AgentId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import {
  breakerOf,
  breakerWire,
  CircuitBreakerWire,
  RetryConfigWire,
  retryOf,
  retryWire,
  ScheduleConfigWire,
  scheduleOf,
  scheduleWire
} from "./CampaignSettings.ts"
import { clearable, id, instant, instantOf, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"
import { pageQuery } from "./Page.ts"

/** Properties that include every setting. */
type WithSettings<Column extends SettingColumn = SettingColumn> = Readonly<Record<Column, TSchema> & Record<string, TSchema>>

export const CampaignPath = Type.Object({ campaign_id: id<CampaignId>() })

const name = Type.String({ minLength: 1, maxLength: 255 })
const maxConcurrency = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: "How many calls of the campaign may be up at once. The organization's limit applies as well."
})
const rateLimit = (otherwise: string) =>
  optional(Type.Integer({ minimum: 1, maximum: 1000, description: `Calls placed per second, at most. ${otherwise}` }))

export const CreateCampaign = Type.Object(
  {
    name,
    workflow_id: id<AgentId>("The agent that calls."),
    source_type: Type.Unsafe<"csv">(Type.String({ pattern: "^csv$" })),
    source_id: Type.String({ description: "The `file_key` of an uploaded CSV." }),
    telephony_configuration_id: optional(id<TelephonyConfigId>("If left out, the organization's default is used.")),
    retry_config: optional(RetryConfigWire),
    rate_limit: rateLimit("If left out, the default of the installation (`CALL_RATE`) is used."),
    max_concurrency: optional(maxConcurrency),
    schedule_config: optional(ScheduleConfigWire),
    circuit_breaker: optional(CircuitBreakerWire)
  } satisfies WithSettings,
  { title: "CreateCampaign" }
)

export const UpdateCampaign = Type.Object(
  {
    name: optional(name),
    retry_config: optional(RetryConfigWire),
    rate_limit: rateLimit(""),
    max_concurrency: clearable(maxConcurrency),
    schedule_config: clearable(ScheduleConfigWire),
    circuit_breaker: clearable(CircuitBreakerWire)
  } satisfies WithSettings,
  {
    title: "UpdateCampaign",
    description:
      "Fields that are left out stay as they are, and each object is replaced as a whole. Null clears `max_concurrency`, `schedule_config` and `circuit_breaker`, and leaves anything else as it is."
  }
)

const settingsOf = (body: Static<typeof CreateCampaign> | Static<typeof UpdateCampaign>): Required<CampaignChanges> => ({
  name: orUndefined(body.name),
  retry: body.retry_config === null ? undefined : retryOf(body.retry_config),
  rateLimit: orUndefined(body.rate_limit),
  maxConcurrency: body.max_concurrency,
  schedule: body.schedule_config && scheduleOf(body.schedule_config),
  breaker: body.circuit_breaker && breakerOf(body.circuit_breaker)
})

export const newCampaignOf = (body: Static<typeof CreateCampaign>): NewCampaign => ({
  ...settingsOf(body),
  name: body.name,
  agentId: body.workflow_id,
  sourceType: body.source_type,
  sourceId: body.source_id,
  telephonyConfigurationId: orUndefined(body.telephony_configuration_id)
})
export const changesOf = (body: Static<typeof UpdateCampaign>): CampaignChanges => settingsOf(body)

export const RedialCampaign = Type.Refine(
  Type.Object(
    {
      name: optional(name),
      retry_on_voicemail: Type.Boolean({ default: true }),
      retry_on_no_answer: Type.Boolean({ default: true }),
      retry_on_busy: Type.Boolean({ default: true }),
      retry_on_unknown: Type.Boolean({
        default: false,
        description: "Contacts whose last call may or may not have been placed: they may have been reached already."
      }),
      retry_config: optional(RetryConfigWire)
    },
    { title: "RedialCampaign", description: "Which contacts to call again, by the outcome of their last call." }
  ),
  (body) => body.retry_on_voicemail || body.retry_on_no_answer || body.retry_on_busy || body.retry_on_unknown,
  () => "At least one of retry_on_voicemail, retry_on_no_answer, retry_on_busy, retry_on_unknown must be true"
)

export const redialOf = (body: Static<typeof RedialCampaign>): NewRedial => ({
  name: orUndefined(body.name),
  reasons: [
    ...(body.retry_on_voicemail ? (["voicemail"] as const) : []),
    ...(body.retry_on_no_answer ? (["no_answer"] as const) : []),
    ...(body.retry_on_busy ? (["busy"] as const) : []),
    ...(body.retry_on_unknown ? (["unknown"] as const) : [])
  ],
  retry: body.retry_config === null ? undefined : complete(retryOf(body.retry_config))
})

export const CampaignListQuery = Type.Object({
  state: optional(Type.String({ description: "One or more states, separated by commas." })),
  name: optional(Type.String({ maxLength: 255, description: "Part of the name, case-insensitive." })),
  ...pageQuery,
  after: optional(id<CampaignId>("The last campaign of the previous page."))
})

const CampaignStateWire = Type.Enum([...shownStates], {
  description: "`created` replaces `draft` only where the operator has set `COMPATIBILITY=dograh`."
})

const CampaignLogEntryWire = Type.Object(
  {
    ts: instant(),
    level: Type.Enum(["info", "warning", "error"]),
    event: Type.Enum([...campaignEvents]),
    message: Type.String(),
    details: nullable(object())
  },
  { title: "CampaignLogEntry" }
)

const logWire = ({ details, event, level, message, ts }: CampaignLogEntry): Static<typeof CampaignLogEntryWire> => ({
  ts,
  level,
  event,
  message,
  details
})

export const CampaignWire = Type.Object(
  {
    id: id<CampaignId>(),
    name: Type.String(),
    workflow_id: id<AgentId>(),
    workflow_name: Type.String(),
    state: CampaignStateWire,
    source_type: Type.String(),
    source_id: Type.String(),
    total_rows: Type.Integer(),
    processed_rows: Type.Integer({ description: "Contacts dialed at least once." }),
    failed_rows: Type.Integer(),
    created_at: instant(),
    started_at: nullable(instant()),
    completed_at: nullable(instant()),
    retry_config: RetryConfigWire,
    rate_limit: Type.Integer({ description: "Calls placed per second, at most." }),
    max_concurrency: nullable(Type.Integer()),
    schedule_config: nullable(ScheduleConfigWire),
    circuit_breaker: CircuitBreakerWire,
    executed_count: Type.Integer({ description: "Calls placed, retries included." }),
    total_queued_count: Type.Integer({ description: "Contacts, and the retries that were scheduled for them." }),
    parent_campaign_id: nullable(id<CampaignId>()),
    redialed_campaign_id: nullable(id<CampaignId>()),
    telephony_configuration_id: nullable(id<TelephonyConfigId>()),
    telephony_configuration_name: nullable(Type.String()),
    logs: Type.Array(CampaignLogEntryWire, { description: "The newest entries, oldest first." })
  } satisfies WithSettings,
  { title: "Campaign" }
)

export const campaignWire = (campaign: LoggedCampaign, compatibility: Compatibility): Static<typeof CampaignWire> => ({
  id: campaign.id,
  name: campaign.name,
  workflow_id: campaign.agentId,
  workflow_name: campaign.agentName,
  state: shownState(campaign.state, compatibility),
  source_type: campaign.sourceType,
  source_id: campaign.sourceId,
  total_rows: campaign.counters.totalRows,
  processed_rows: campaign.counters.processedRows,
  failed_rows: campaign.counters.failedRows,
  created_at: campaign.createdAt.toISOString(),
  started_at: instantOf(campaign.startedAt),
  completed_at: instantOf(campaign.completedAt),
  retry_config: retryWire(campaign.retry),
  rate_limit: campaign.rateLimit,
  max_concurrency: orNull(campaign.maxConcurrency),
  schedule_config: campaign.schedule === undefined ? null : scheduleWire(campaign.schedule),
  circuit_breaker: breakerWire(campaign.breaker),
  executed_count: campaign.counters.executedCount,
  total_queued_count: campaign.counters.totalRows + campaign.counters.retriesQueued,
  parent_campaign_id: orNull(campaign.parentCampaignId),
  redialed_campaign_id: orNull(campaign.redialedCampaignId),
  telephony_configuration_id: orNull(campaign.telephonyConfigurationId),
  telephony_configuration_name: orNull(campaign.telephonyConfigurationName),
  logs: campaign.logs.map(logWire)
})

export const AdvisedCampaignWire = Type.Object(
  {
    ...CampaignWire.properties,
    warnings: Type.Array(Type.String(), {
      description: "Settings that are accepted but cannot take full effect at the moment."
    })
  },
  { title: "AdvisedCampaign" }
)

export const advisedCampaignWire = (campaign: AdvisedCampaign, compatibility: Compatibility): Static<typeof AdvisedCampaignWire> => ({
  ...campaignWire(campaign, compatibility),
  warnings: [...campaign.warnings]
})

export const CampaignListWire = Type.Object({ campaigns: Type.Array(CampaignWire) }, { title: "CampaignList" })

const SourceSyncWire = Type.Object(
  {
    status: Type.Enum(["pending", "in_progress", "completed", "failed"]),
    last_synced_at: nullable(instant()),
    error: nullable(Type.String()),
    rows_in_file: Type.Integer(),
    accepted: Type.Integer(),
    skipped: Type.Integer({ description: "Rows without a phone number." }),
    warnings: Type.Array(Type.String())
  },
  { title: "SourceSync" }
)

const sourceSyncWire = (sync: SourceSync): Static<typeof SourceSyncWire> => ({
  status: sync.status,
  last_synced_at: sync.lastSyncedAt,
  error: sync.error,
  rows_in_file: sync.rowsInFile,
  accepted: sync.accepted,
  skipped: sync.skipped,
  warnings: [...sync.warnings]
})

export const CampaignProgressWire = Type.Object(
  {
    campaign_id: id<CampaignId>(),
    state: CampaignStateWire,
    total_rows: Type.Integer(),
    processed_rows: Type.Integer(),
    failed_calls: Type.Integer({ description: "Calls that failed, were busy or were not answered, retries included." }),
    progress_percentage: Type.Number(),
    source_sync: SourceSyncWire,
    rate_limit: Type.Integer({ description: "Calls placed per second, at most." }),
    started_at: nullable(instant()),
    completed_at: nullable(instant()),
    total: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer(),
    cancelled: Type.Integer({ description: "Contacts that are not dialed because their numbers have opted out." }),
    pending: Type.Integer(),
    processed: Type.Integer(),
    completion_percentage: Type.Number()
  },
  { title: "CampaignProgress" }
)

export const progressWire = (progress: CampaignProgress, compatibility: Compatibility): Static<typeof CampaignProgressWire> => ({
  campaign_id: progress.campaignId,
  state: shownState(progress.state, compatibility),
  total_rows: progress.totalRows,
  processed_rows: progress.processedRows,
  failed_calls: progress.failedCalls,
  progress_percentage: progress.progressPercentage,
  source_sync: sourceSyncWire(progress.sourceSync),
  rate_limit: progress.rateLimit,
  started_at: instantOf(progress.startedAt),
  completed_at: instantOf(progress.completedAt),
  total: progress.total,
  completed: progress.completed,
  failed: progress.failed,
  cancelled: progress.cancelled,
  pending: progress.pending,
  processed: progress.processed,
  completion_percentage: progress.completionPercentage
})

export const SourceDownload = Type.Object(
  {
    download_url: Type.String({ description: "Works without a credential, until it expires." }),
    expires_in: Type.Integer({ description: "Seconds." })
  },
  { title: "SourceDownload" }
)

export const CampaignDefaultsWire = Type.Object(
  {
    concurrent_call_limit: Type.Integer({ description: "Calls of the organization that may be up at once." }),
    from_numbers_count: Type.Integer({ description: "Active numbers of the default telephony configuration." }),
    default_retry_config: RetryConfigWire,
    last_campaign_settings: nullable(
      Type.Object(
        {
          retry_config: nullable(RetryConfigWire),
          max_concurrency: nullable(Type.Integer()),
          schedule_config: nullable(ScheduleConfigWire),
          circuit_breaker: nullable(CircuitBreakerWire)
        } satisfies WithSettings<OfferedColumn>,
        { title: "LastCampaignSettings", description: "Settings of the newest campaign." }
      )
    )
  },
  { title: "CampaignDefaults" }
)

export const defaultsWire = ({ concurrencyLimit, fromNumbers, last, retry }: CampaignDefaults): Static<typeof CampaignDefaultsWire> => ({
  concurrent_call_limit: concurrencyLimit,
  from_numbers_count: fromNumbers,
  default_retry_config: retryWire(retry),
  last_campaign_settings:
    last === undefined
      ? null
      : {
          retry_config: retryWire(last.retry),
          max_concurrency: last.maxConcurrency,
          schedule_config: last.schedule === null ? null : scheduleWire(last.schedule),
          circuit_breaker: last.breaker === null ? null : breakerWire(last.breaker)
        }
})
