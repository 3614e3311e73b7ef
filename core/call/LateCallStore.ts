/** Calls that are still up after their attempts have ended: which attempts they belong to, and what their runs record about them. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { CallCost } from "#core/provider/CallCost.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { Annotations, LateLife } from "#core/run/RunRecord.ts"
import { storableJson } from "#core/storable.ts"
import { callRefColumnsSql, callRefOf, type CallRefRow } from "./callRefRow.ts"

export interface KnownAttempt {
  readonly call: CallRef
  readonly node: string
  /** The attempt has not ended: an actor follows its call, or is about to. */
  readonly isLive: boolean
  /** What was said about its call while it ended may still be on the way. */
  readonly hasJustEnded: boolean
}

/** An attempt that was written off. Its call may still appear. */
export interface AttemptInDoubt {
  readonly call: CallRef
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId | undefined
  readonly telephonyConfigurationId: TelephonyConfigId
  /** Time since its request left, by the database's clock. */
  readonly ageMillis: number
}

const lateCall: keyof Annotations = "late_call"

export class LateCallStore extends Context.Service<
  LateCallStore,
  {
    /** Those of these ids that belong to attempts of this configuration. */
    readonly attempts: (id: TelephonyConfigId, callIds: ReadonlyArray<CallId>) => Effect.Effect<ReadonlyArray<KnownAttempt>>
    /** Adds to the annotations of the attempt's run. Repeating it changes nothing. False: there is no run, because the attempt is void. */
    readonly annotate: (callId: CallId, late: LateLife) => Effect.Effect<boolean>
    /** Replaces what was known of the cost of the attempt's call. */
    readonly bill: (callId: CallId, cost: CallCost) => Effect.Effect<void>
    /** Attempts that were written off and still hold their numbers. */
    readonly inDoubt: Effect.Effect<ReadonlyArray<AttemptInDoubt>>
  }
>()("core/call/LateCallStore") {
  static readonly layer = Layer.effect(
    LateCallStore,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      attempts: (id, callIds) =>
        sql<CallRefRow & Omit<KnownAttempt, "call">>`
          SELECT ${sql.literal(callRefColumnsSql)}, a.node, a.state IN ('intent', 'sent', 'answered') AS is_live,
            coalesce(a.ended_at > now() - interval '10 seconds', false) AS has_just_ended FROM attempts a
          WHERE a.id = ANY (${callIds}::uuid[]) AND a.telephony_configuration_id = ${id}::int`.pipe(
          Effect.map((rows) =>
            rows.map(({ hasJustEnded, isLive, node, ...row }) => ({ call: callRefOf(row), hasJustEnded, isLive, node }))
          ),
          Effect.orDie
        ),
      annotate: (callId, late) =>
        sql`
          UPDATE runs SET annotations = coalesce(annotations, '{}') || jsonb_build_object(${lateCall}::text,
            ${storableJson(late)}::text::jsonb || coalesce(annotations -> ${lateCall}::text, '{}'))
          WHERE attempt_id = ${callId}::uuid RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie
        ),
      bill: (callId, cost) =>
        sql`UPDATE runs SET cost = ${JSON.stringify(cost)}::text::jsonb WHERE attempt_id = ${callId}::uuid`.pipe(
          Effect.asVoid,
          Effect.orDie
        ),
      inDoubt: sql<CallRefRow & Omit<AttemptInDoubt, "call" | "campaignId"> & { readonly campaignId: CampaignId | null }>`
          SELECT ${sql.literal(callRefColumnsSql)}, a.organization_id, a.campaign_id, a.telephony_configuration_id,
            extract(epoch FROM now() - a.sent_at)::float8 * 1000 AS age_millis
          FROM attempts a WHERE a.holds_number AND a.state = 'ended' AND a.sent_at IS NOT NULL`.pipe(
        Effect.map((rows) =>
          rows.map(({ ageMillis, campaignId, organizationId, telephonyConfigurationId, ...row }) => ({
            ageMillis,
            call: callRefOf(row),
            campaignId: campaignId ?? undefined,
            organizationId,
            telephonyConfigurationId
          }))
        ),
        Effect.orDie
      )
    }))
  )
}
