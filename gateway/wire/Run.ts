/** The record of a call, called "workflow run" in the API, and lists of them. */
import Type, { type Static } from "typebox"
import type { AgentDefinitionId, AgentId, RunId } from "#core/Id.ts"
import type { Run } from "#core/run/Run.ts"
import type { CostInfo as StoredCost, UsageInfo as StoredUsage } from "#core/run/RunRecord.ts"
import { isUnused } from "#core/usage/Cost.ts"
import type { RunPage, RunQuery } from "#core/run/Runs.ts"
import { id, instant, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

export const AgentRunsPath = Type.Object({ workflow_id: id<AgentId>() })

export const RunPath = Type.Object({ workflow_id: id<AgentId>(), run_id: id<RunId>() })

export const RunListQuery = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  filters: optional(Type.String({ description: 'JSON array of `{"attribute", "type", "value"}`; all must match.' })),
  sort_by: optional(Type.String({ description: "`duration` sorts by duration, anything else by time of creation." })),
  sort_order: Type.String({
    default: "desc",
    description: "`asc` sorts ascending, anything else descending. Runs without a value come last."
  })
})

export const runQueryOf = (query: Static<typeof RunListQuery>): RunQuery => ({
  page: query.page,
  limit: query.limit,
  filters: orUndefined(query.filters),
  sortBy: orUndefined(query.sort_by),
  sortOrder: query.sort_order
})

type Info = Readonly<Record<string, unknown>>
const numberIn = (info: Info, name: keyof StoredUsage | keyof StoredCost): number | undefined => {
  const value = info[name]
  return typeof value === "number" ? value : undefined
}
const objectIn = (info: Info, name: keyof StoredUsage): Info => {
  const value = info[name]
  return value instanceof Object ? Object.fromEntries(Object.entries(value)) : {}
}

const UsageInfo = Type.Object(
  {
    llm: object("Tokens by service and model. Those of an answer that was dropped before its end are estimated."),
    tts: object("Characters by service and model."),
    stt: object("Seconds by service and model."),
    call_duration_seconds: nullable(Type.Number())
  },
  { title: "UsageInfo" }
)
const usageInfo = (info: Info | undefined): Static<typeof UsageInfo> | null =>
  info === undefined || Object.keys(info).length === 0
    ? null
    : {
        llm: objectIn(info, "llm"),
        tts: objectIn(info, "tts"),
        stt: objectIn(info, "stt"),
        call_duration_seconds: orNull(numberIn(info, "call_duration_seconds"))
      }

export const durationOf = (run: Run): number | undefined => numberIn(run.usageInfo ?? {}, "call_duration_seconds")

const ServiceCost = Type.Object(
  {
    kind: Type.Enum(["llm", "tts", "stt"]),
    provider: Type.String(),
    model: Type.String({ description: "As in the usage: of a voice, its name." }),
    unit: Type.Enum(["prompt_tokens", "cached_prompt_tokens", "completion_tokens", "characters", "seconds"], {
      description: "`prompt_tokens` does not include cached ones."
    }),
    quantity: Type.Number(),
    price_usd: nullable(Type.Number({ description: "What `price_per` units cost, in US dollars. Null: no price is known." })),
    price_per: Type.Integer(),
    cost_usd: nullable(Type.Number({ description: "In US dollars." }))
  },
  { title: "ServiceCost" }
)
const CostInfo = Type.Object(
  {
    dograh_token_usage: Type.Number({ description: "`total_cost_usd` in hundredths of a US dollar; 0 if it is null." }),
    call_duration_seconds: nullable(Type.Integer({ description: "Rounded." })),
    total_cost_usd: nullable(
      Type.Number({
        description:
          "What the speech and language services cost that have a price, in US dollars, at the prices of the end. Null: not known. The carrier's charge is in `cost`."
      })
    ),
    is_complete: nullable(Type.Boolean({ description: "Whether all services that were used have a price. Null: not known." })),
    services: Type.Array(ServiceCost)
  },
  { title: "CostInfo" }
)
const centsPerDollar = 100
export const tokensOf = (run: Run): number => {
  const cost = run.costInfo ?? {}
  return numberIn(cost, "dograh_token_usage") ?? Math.round((numberIn(cost, "total_cost_usd") ?? 0) * centsPerDollar * 100) / 100
}
const costInfo = (run: Run): Static<typeof CostInfo> | null => {
  const duration = durationOf(run)
  if (run.costInfo === undefined && duration === undefined) return null
  // Cast: nothing but `costOf` writes the key.
  const services = (run.costInfo?.["services"] ?? []) as NonNullable<StoredCost["services"]>
  return {
    dograh_token_usage: tokensOf(run),
    call_duration_seconds: duration === undefined ? null : Math.round(duration),
    total_cost_usd: orNull(dollarsOf(run)),
    is_complete: isNothing(run) ? true : orNull(booleanIn(run.costInfo ?? {}, "is_complete")),
    services: services.map((service) => ({ ...service }))
  }
}
/** A call that used no service has no stored cost. */
const isNothing = (run: Run): boolean => run.costInfo === undefined && run.isCompleted && isUnused(run.usageInfo)
/** What the services of a run have cost, in US dollars, as far as they have prices. Undefined: not known. */
export const dollarsOf = (run: Run): number | undefined => (isNothing(run) ? 0 : numberIn(run.costInfo ?? {}, "total_cost_usd"))
const booleanIn = (info: Info, name: keyof StoredCost): boolean | undefined => {
  const value = info[name]
  return typeof value === "boolean" ? value : undefined
}

const Cost = Type.Object(
  {
    amount: Type.String({ description: "A decimal in the currency's main unit, such as `0.0085`." }),
    currency: Type.String({ description: "ISO 4217, such as `USD`." })
  },
  {
    title: "CallCost",
    description: "What the carrier says that the call cost; null until it has said so. It may come after the call's end."
  }
)

const publicUrl = () => nullable(Type.String({ description: "Needs no credential; valid for seven days at most." }))

export const RunWire = Type.Object(
  {
    id: id<RunId>(),
    workflow_id: id<AgentId>(),
    name: Type.String(),
    mode: Type.String(),
    created_at: instant(),
    is_completed: Type.Boolean(),
    transcript_url: nullable(Type.String({ description: "Storage key." })),
    recording_url: nullable(Type.String({ description: "Storage key." })),
    transcript_public_url: publicUrl(),
    recording_public_url: publicUrl(),
    public_access_token: nullable(Type.String({ description: "The token in the public URLs, once there is a file." })),
    cost_info: nullable(CostInfo),
    cost: nullable(Cost),
    usage_info: nullable(UsageInfo),
    definition_id: nullable(id<AgentDefinitionId>("The version of the agent that was on the call.")),
    initial_context: nullable(object()),
    gathered_context: nullable(object()),
    call_type: Type.Enum(["inbound", "outbound"]),
    logs: nullable(object()),
    annotations: nullable(object())
  },
  { title: "WorkflowRun" }
)

/** URLs of the run's files that need no credential, and the token in them. */
export interface PublicUrls {
  readonly token: string | null
  readonly transcript: string | null
  readonly recording: string | null
}

export const runWire = (run: Run, urls: PublicUrls): Static<typeof RunWire> => ({
  id: run.id,
  workflow_id: run.agentId,
  name: run.name,
  mode: run.mode,
  created_at: run.createdAt.toISOString(),
  is_completed: run.isCompleted,
  transcript_url: orNull(run.transcriptKey),
  recording_url: orNull(run.recordingKey),
  transcript_public_url: urls.transcript,
  recording_public_url: urls.recording,
  public_access_token: urls.token,
  cost_info: costInfo(run),
  cost: orNull(run.cost),
  usage_info: usageInfo(run.usageInfo),
  definition_id: run.definitionId,
  initial_context: run.initialContext,
  gathered_context: orNull(run.gatheredContext),
  call_type: run.callType,
  logs: orNull(run.logs),
  annotations: orNull(run.annotations)
})

export const RunPageWire = Type.Object(
  {
    runs: Type.Array(RunWire),
    total_count: Type.Integer(),
    page: Type.Integer(),
    limit: Type.Integer(),
    total_pages: Type.Integer()
  },
  { title: "WorkflowRunPage" }
)

export const runPageWire = (page: RunPage, runs: Array<Static<typeof RunWire>>): Static<typeof RunPageWire> => ({
  runs,
  total_count: page.totalCount,
  page: page.page,
  limit: page.limit,
  total_pages: page.totalPages
})

export const AgentRunPageWire = Type.Object(
  { ...RunPageWire.properties, applied_filters: nullable(Type.Array(object())) },
  { title: "WorkflowRunPageOfWorkflow" }
)

/** `filters` is the text that the client sent. */
export const agentRunPageWire = (
  page: RunPage,
  runs: Array<Static<typeof RunWire>>,
  filters: string | null
): Static<typeof AgentRunPageWire> => ({ ...runPageWire(page, runs), applied_filters: filters === null ? null : JSON.parse(filters) })
