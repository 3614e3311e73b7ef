/**
 * The dial protocol in Postgres. Each step of an attempt is one statement that changes the attempt, its contact, its run and the
 * campaign's counters together. It does nothing if the step was already taken: events are repeated, and so are statements after a crash.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { completionEntry, intoCampaignLog } from "#core/CampaignLog.ts"
import { stillAllowedSql } from "#core/campaign/RetryPolicy.ts"
import type { NumberOptedOut } from "#core/contact/OptOut.ts"
import type { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { LeftAttempt, NewAttempt } from "./Attempt.ts"
import { beginSingle, type Claim, claimContacts, type Claimed } from "./AttemptBeginning.ts"
import type { CallUnsettled } from "./CallRequest.ts"
import { ClaimStarts } from "./ClaimStarts.ts"
import { type DecidedEnd, finish, type Finished } from "./AttemptEnding.ts"
import type { CallNotPlaced, SingleCall } from "./Dialer.ts"
import { liveAttempts, liveIds } from "./liveAttempts.ts"
import * as NumberHold from "./NumberHold.ts"
import { freedBy, freeing, type NumberInCall, WakeWaiting } from "./NumberHold.ts"

export interface CallAnswer {
  readonly callId: CallId
  /** Epoch milliseconds. */
  readonly answeredAt: number
  /** The provider's endpoint that the request went to, if known. */
  readonly endpoint: string | undefined
}

export interface CallName {
  readonly callId: CallId
  readonly providerCallId: string
}

export class AttemptStore extends Context.Service<
  AttemptStore,
  {
    /** Claims contacts and writes their attempts, in `sent`, with their runs. No two callers ever get the same contact. */
    readonly claim: (claim: Claim) => Effect.Effect<Claimed>
    /**
     * Writes the attempt of a single call, in `intent`. Its telephony configuration cannot be deleted before it is over. Refused while the
     * number is in another call.
     */
    readonly begin: (
      call: SingleCall,
      as: { readonly callId: CallId; readonly provider: string; readonly node: string; readonly journal: string }
    ) => Effect.Effect<NewAttempt, CallNotPlaced | CallUnsettled | NumberInCall | NumberOptedOut>
    /** Marks a single call as `sent`: its request may leave from now on. A campaign's attempt begins as `sent`. False: do not send it. */
    readonly sent: (callId: CallId, now: number) => Effect.Effect<boolean>
    /** Records the answers of different attempts in one statement. */
    readonly answered: (answers: ReadonlyArray<CallAnswer>) => Effect.Effect<void>
    /** Records the provider's own ids of calls in one statement; a later one replaces an earlier one. */
    readonly named: (names: ReadonlyArray<CallName>) => Effect.Effect<void>
    /** Whether an attempt of these configurations other than this one has that id of the provider's. */
    readonly hasOther: (
      callId: CallId,
      configurationIds: ReadonlyArray<TelephonyConfigId>,
      providerCallId: string
    ) => Effect.Effect<boolean>
    /**
     * The attempt was certainly never placed: deletes its run and returns its contact, unless changed settings no longer allow the retry; then
     * the contact fails. False when the attempt was already over. `isLast`: the contacts behind it are claimed first.
     */
    readonly undo: (
      callId: CallId,
      how: { readonly at: number; readonly breakerEntry: boolean; readonly isLast?: boolean }
    ) => Effect.Effect<boolean>
    /** Records the ends of different attempts in one statement: all of them or none. The results are in the same order. */
    readonly finish: (ends: ReadonlyArray<DecidedEnd>) => Effect.Effect<ReadonlyArray<Finished>>
    /** All attempts that are not over, no matter which process began them. */
    readonly live: Effect.Effect<ReadonlyArray<LeftAttempt>>
    /** Those of these attempts that are not over. */
    readonly find: (callIds: ReadonlyArray<CallId>) => Effect.Effect<ReadonlyArray<LeftAttempt>>
    /** The next ids, in order, of attempts that began more than `olderThanSeconds` ago and are not over. */
    readonly liveIds: (after: CallId | undefined, olderThanSeconds: number, limit: number) => Effect.Effect<ReadonlyArray<CallId>>
    /** Releases the number of an attempt that was written off, once its call can no longer appear. False when it held none. */
    readonly releaseNumber: (callId: CallId) => Effect.Effect<boolean>
    /** Attempts that are over but have held their numbers for longer than any doubt lasts; at most a thousand. */
    readonly outlived: Effect.Effect<ReadonlyArray<CallId>>
    /** Another engine has ended calls: contacts of these campaigns may have come back, and numbers that they wait for may be free. */
    readonly changedElsewhere: (campaignIds: ReadonlyArray<CampaignId>) => void
    /** Resumes contacts that wait for numbers that no attempt holds, at most a thousand, and returns how many there were. */
    readonly resumeForgotten: Effect.Effect<number>
  }
>()("core/call/AttemptStore") {
  static readonly layer = Layer.effect(
    AttemptStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const wake = yield* WakeWaiting
      const starts = new ClaimStarts()
      const changed = (campaignIds: ReadonlyArray<CampaignId>) => {
        starts.forget(campaignIds)
        wake(campaignIds)
      }
      /** Wakes the campaigns that wait for the numbers that the statement has released. */
      const waking = <A extends { readonly freed: ReadonlyArray<CampaignId> }, E>(statement: Effect.Effect<A, E>) =>
        Effect.tap(Effect.orDie(statement), ({ freed }) => (freed.length === 0 ? Effect.void : Effect.sync(() => changed(freed))))
      return {
        claim: (claim) =>
          Effect.orDie(Effect.flatMap(SteadyTime.now, (now) => claimContacts(sql, claim, starts.look(claim.campaignId, now, claim.now)))),
        begin: (call, as) => Effect.catchTag(beginSingle(sql, call, as), "SqlError", Effect.die),
        sent: (callId, now) => Effect.orDie(markSent(sql, callId, now)),
        answered: (answers) => Effect.orDie(markAnswered(sql, answers)),
        named: (names) => Effect.orDie(markNamed(sql, names)),
        hasOther: (callId, configurationIds, providerCallId) => Effect.orDie(hasOther(sql, callId, configurationIds, providerCallId)),
        undo: (callId, { at, breakerEntry, isLast = false }) =>
          Effect.map(waking(undo(sql, callId, at, breakerEntry)), ({ returnedTo, undone }) => {
            if (returnedTo !== null && !isLast) starts.forget([returnedTo])
            return undone
          }),
        finish: (ends) =>
          Effect.map(waking(finish(sql, ends)), ({ finished }) => {
            for (const { decided } of ends) if (decided?.fate.state === "retry_wait") starts.due(decided.fate.dueAt)
            return finished
          }),
        releaseNumber: (callId) => Effect.map(waking(NumberHold.release(sql, callId)), ({ count }) => count > 0),
        changedElsewhere: changed,
        outlived: Effect.orDie(NumberHold.outlived(sql)),
        resumeForgotten: Effect.map(waking(NumberHold.resumeForgotten(sql)), ({ count }) => count),
        live: Effect.orDie(liveAttempts(sql, undefined)),
        find: (callIds) => Effect.orDie(liveAttempts(sql, callIds)),
        liveIds: (after, olderThanSeconds, limit) => Effect.orDie(liveIds(sql, after, olderThanSeconds, limit))
      }
    })
  )
}

type Sql = SqlClient.SqlClient

const markSent = (sql: Sql, callId: CallId, now: number) =>
  sql`
    UPDATE attempts SET state = 'sent', sent_at = to_timestamp(${now}::float8 / 1000)
    WHERE id = ${callId}::uuid AND state = 'intent' AND campaign_id IS NULL RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))

// The times are sent as text, because the driver refuses an array of whole and fractional numbers.
// Does not wait for the disk: if the change is lost, recovery finds the attempt as `sent` and asks the provider. The attempts are locked in the
// same order as when they end. The contact's row is not changed: lists see from the attempt that its call is up.
const markAnswered = (sql: Sql, answers: ReadonlyArray<CallAnswer>) => {
  const callIds = answers.map(({ callId }) => callId)
  return sql`
    WITH told AS MATERIALIZED (
      SELECT * FROM unnest(${callIds}::uuid[], ${answers.map(({ answeredAt }) => String(answeredAt))}::text[]::float8[],
        ${answers.map(({ endpoint }) => endpoint ?? "")}::text[]) AS told (id, answered_at, endpoint)
    ), locked AS MATERIALIZED (
      SELECT id, state FROM attempts WHERE id = ANY (${callIds}::uuid[]) ORDER BY phone_number FOR UPDATE
    )
    UPDATE attempts SET state = 'answered', answered_at = to_timestamp(told.answered_at / 1000),
      endpoint = coalesce(nullif(told.endpoint, ''), attempts.endpoint)
    FROM told WHERE attempts.id = ANY (ARRAY(SELECT id FROM locked WHERE state = 'sent')) AND attempts.id = told.id
      AND set_config('synchronous_commit', 'off', true) IS NOT NULL`.pipe(Effect.asVoid)
}

// Does not wait for the disk either: the local journal has the id too. An attempt that is over keeps it, for the calls that appear late.
const markNamed = (sql: Sql, names: ReadonlyArray<CallName>) => {
  const latest = new Map(names.map(({ callId, providerCallId }) => [callId, providerCallId]))
  const callIds = [...latest.keys()]
  return sql`
    WITH locked AS MATERIALIZED (
      SELECT id FROM attempts WHERE id = ANY (${callIds}::uuid[]) ORDER BY phone_number FOR UPDATE
    )
    UPDATE attempts SET provider_call_id = told.name
    FROM unnest(${callIds}::uuid[], ${[...latest.values()]}::text[]) AS told (id, name)
    WHERE attempts.id = ANY (ARRAY(SELECT id FROM locked)) AND attempts.id = told.id AND provider_call_id IS DISTINCT FROM told.name
      AND set_config('synchronous_commit', 'off', true) IS NOT NULL`.pipe(Effect.asVoid)
}

const hasOther = (sql: Sql, callId: CallId, configurationIds: ReadonlyArray<TelephonyConfigId>, providerCallId: string) =>
  sql`
    SELECT FROM attempts WHERE telephony_configuration_id = ANY (${configurationIds}::int[]) AND provider_call_id = ${providerCallId}
      AND id <> ${callId}::uuid LIMIT 1`.pipe(Effect.map((rows) => rows.length > 0))

// A retry is claimed under the rules of that moment. If they change while it is claimed, it is judged here, under the lock that the change
// takes as well: otherwise it would wait again and be dialed although it is ruled out. A paused campaign judges its retries when it resumes.
const undo = (sql: Sql, callId: CallId, now: number, breakerEntry: boolean) =>
  sql<{ readonly undone: boolean; readonly returnedTo: CampaignId | null; readonly freed: ReadonlyArray<CampaignId> }>`
    WITH ruled AS MATERIALIZED (
      SELECT id, state = 'running' AS is_running, retry_config FROM campaigns
      WHERE id = (SELECT campaign_id FROM attempts WHERE id = ${callId}::uuid) FOR NO KEY UPDATE
    ), undone AS (
      UPDATE attempts SET state = 'void', holds_number = false, ended_at = to_timestamp(${now}::float8 / 1000),
        breaker_failure = CASE WHEN ${breakerEntry}::bool THEN true END
      WHERE id = ${callId}::uuid AND state IN ('intent', 'sent') AND (campaign_id IS NULL OR EXISTS (SELECT 1 FROM ruled))
      RETURNING id, campaign_id, row_no, number, phone_number, holds_number, awaited_by
    ), dialing AS MATERIALIZED (
      SELECT c.campaign_id, c.row_no, c.retries_used > 0 AND is_running AND NOT ${sql.literal(stillAllowedSql("c", "retry_config"))} AS is_out
      FROM contacts c JOIN undone USING (campaign_id, row_no) JOIN ruled ON ruled.id = c.campaign_id WHERE c.state = 'dialing'
    ), returned AS (
      UPDATE contacts SET state = CASE WHEN is_out THEN 'failed' WHEN retries_used > 0 THEN 'retry_wait' ELSE 'pending' END,
        retries_used = retries_used - is_out::int, due_at = CASE WHEN NOT is_out THEN due_at END
      FROM dialing WHERE contacts.campaign_id = dialing.campaign_id AND contacts.row_no = dialing.row_no AND contacts.state = 'dialing'
    ), failed AS (
      UPDATE campaigns c SET failed_rows = failed_rows + 1, retries_queued = retries_queued - 1,
        state = CASE WHEN completed_rows + failed_rows + cancelled_rows + 1 = total_rows THEN 'completed' ELSE state END,
        completed_at = CASE WHEN completed_rows + failed_rows + cancelled_rows + 1 = total_rows THEN to_timestamp(${now}::float8 / 1000)
          ELSE completed_at END
      FROM dialing WHERE is_out AND c.id = dialing.campaign_id
      RETURNING c.organization_id, c.id, c.state, c.total_rows, c.completed_rows, c.failed_rows, c.cancelled_rows
    ), logged AS (
      ${intoCampaignLog(sql)} SELECT c.organization_id, c.id, ${completionEntry(sql)} FROM failed c WHERE c.state = 'completed'
    ), unrecorded AS (
      DELETE FROM runs USING undone WHERE runs.attempt_id = undone.id
    ), counted AS (
      UPDATE campaign_dials SET executed_count = executed_count - 1, processed_rows = processed_rows - (undone.number = 1)::int
      FROM undone WHERE campaign_dials.campaign_id = undone.campaign_id
    ), ${freeing(sql, "undone")}
    SELECT EXISTS (SELECT FROM undone) AS undone, (SELECT id FROM ruled) AS returned_to, ${freedBy(
      sql,
      "undone",
      // The statement sees the attempt as it was before it.
      sql`SELECT holds_number, awaited_by FROM attempts WHERE id = ${callId}::uuid AND state IN ('ended', 'void')`
    )}`.pipe(Effect.map(([row]) => row ?? { freed: [], returnedTo: null, undone: false }))
