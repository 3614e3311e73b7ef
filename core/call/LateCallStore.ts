/** Calls that are still up after their attempts have ended: which attempts they belong to, and what their runs record about them. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Annotations, LateLife } from "#core/run/RunRecord.ts"
import { storableJson } from "#core/storable.ts"

export interface KnownAttempt {
  readonly callId: CallId
  readonly node: string
  /** The attempt has not ended: an actor follows its call, or is about to. */
  readonly isLive: boolean
}

/** An attempt that was written off. Its call may still appear. */
export interface AttemptInDoubt {
  readonly callId: CallId
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId | undefined
  readonly telephonyConfigurationId: TelephonyConfigId
  /** Time since its request left, by the database's clock. */
  readonly ageMillis: number
  readonly callerNumber: string | undefined
  /** The provider's endpoint that the request went to; undefined when unknown. */
  readonly endpoint: string | undefined
}

const lateCall: keyof Annotations = "late_call"

export class LateCallStore extends Context.Service<
  LateCallStore,
  {
    /** Those of these ids that belong to attempts of this configuration. */
    readonly attempts: (id: TelephonyConfigId, callIds: ReadonlyArray<CallId>) => Effect.Effect<ReadonlyArray<KnownAttempt>>
    /** Adds to the annotations of the attempt's run. Repeating it changes nothing. False: there is no run, because the attempt is void. */
    readonly annotate: (callId: CallId, late: LateLife) => Effect.Effect<boolean>
    /** Attempts that were written off and still hold their numbers. */
    readonly inDoubt: Effect.Effect<ReadonlyArray<AttemptInDoubt>>
  }
>()("core/call/LateCallStore") {
  static readonly layer = Layer.effect(
    LateCallStore,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      attempts: (id, callIds) =>
        sql<KnownAttempt>`
          SELECT id AS call_id, node, state IN ('intent', 'sent', 'answered') AS is_live FROM attempts
          WHERE id = ANY (${callIds}::uuid[]) AND telephony_configuration_id = ${id}::int`.pipe(Effect.orDie),
      annotate: (callId, late) =>
        sql`
          UPDATE runs SET annotations = coalesce(annotations, '{}') || jsonb_build_object(${lateCall}::text,
            ${storableJson(late)}::text::jsonb || coalesce(annotations -> ${lateCall}::text, '{}'))
          WHERE attempt_id = ${callId}::uuid RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie
        ),
      inDoubt: sql<
        Omit<AttemptInDoubt, "campaignId" | "callerNumber" | "endpoint"> & {
          readonly campaignId: CampaignId | null
          readonly callerNumber: string | null
          readonly endpoint: string | null
        }
      >`
          SELECT id AS call_id, organization_id, campaign_id, telephony_configuration_id, caller_number, endpoint,
            extract(epoch FROM now() - sent_at)::float8 * 1000 AS age_millis
          FROM attempts WHERE holds_number AND state = 'ended' AND sent_at IS NOT NULL`.pipe(
        Effect.map((rows) =>
          rows.map((row) => ({
            ...row,
            callerNumber: row.callerNumber ?? undefined,
            campaignId: row.campaignId ?? undefined,
            endpoint: row.endpoint ?? undefined
          }))
        ),
        Effect.orDie
      )
    }))
  )
}
