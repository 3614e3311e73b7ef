/** A database with one campaign, whose contacts are inserted by SQL, claimed by the engine's own store, and never dialed. */
import { Context, Effect, Layer, Redacted } from "effect"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { ContactFate } from "#core/call/Attempt.ts"
import { type CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { Config } from "#runtime/config/config.ts"
import { databaseLayer, schemaLayer } from "#runtime/postgres/postgres.ts"
import { type Database, startDatabase } from "./Database.ts"

const journal = "00000000-0000-4000-8000-00000000000a"

/** Successive contacts of the list in one state. */
export interface ContactRows {
  readonly count: number
  readonly state: "pending" | "retry_wait" | "completed"
  /** How many retries are due, evenly spread among the others, which fall due within a day. */
  readonly due?: number
}

export interface ClaimPlace {
  readonly database: Database
  /** Replaces all contacts of the campaign. Contacts that have been called have their attempts and runs. */
  readonly fill: (lists: ReadonlyArray<ContactRows>) => Effect.Effect<void>
  /** Claims at the time `now`, in epoch milliseconds. */
  readonly claim: (count: number, now: number) => Effect.Effect<Claimed>
  readonly end: (claimed: Claimed, now: number, fateOf: (index: number) => ContactFate) => Effect.Effect<void>
}

/** Creates an organization with a telephony configuration, an agent and a running campaign; each is the first of its kind, so that its id is 1. */
const prepare = ({ sql }: Database) =>
  sql.unsafe(`
    INSERT INTO organizations (name) VALUES ('bench');
    INSERT INTO telephony_configurations (organization_id, name, provider, credentials) VALUES (1, 'bench', 'ari', '{}');
    INSERT INTO agents (organization_id, name) VALUES (1, 'Reminder');
    INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition) VALUES (1, 1, 1, 'published', '{}');
    UPDATE agents SET current_definition_id = 1;
    INSERT INTO campaigns (organization_id, name, agent_id, telephony_configuration_id, state, source_type, source_id, source_hash, source_sync,
      rate_limit, retry_config, total_rows) VALUES (1, 'Bench', 1, 1, 'running', 'csv', '', '', '{}', 100, '{}', 2000000000)`)

// The numbers are in no order: each is multiplied modulo a prime.
const insert = ({ sql }: Database, { count, due = 0, state }: ContactRows, before: number) => sql`
  INSERT INTO contacts (campaign_id, organization_id, row_no, phone_number, context, state, retries_used, retry_reason, due_at, last_outcome)
  SELECT 1, 1, ${before}::int + n, '+49' || 10000000000 + (${before}::bigint + n) * 2654435761 % 4294967291,
    jsonb_build_object('first_name', 'Ada', 'city', 'Berlin', 'order', 'A-' || n, 'amount', n % 900 || '.50'), ${state},
    (${state} = 'retry_wait')::int, CASE ${state} WHEN 'retry_wait' THEN 'busy' END,
    CASE WHEN ${state} = 'retry_wait' THEN now() + CASE WHEN n * ${due}::bigint % ${count}::int < ${due}::int THEN interval '-1 hour'
      ELSE interval '1 hour' END + n::bigint * 2654435761 % 86400 * interval '0.9 second' END,
    CASE ${state} WHEN 'retry_wait' THEN 'busy' WHEN 'completed' THEN 'answered' END
  FROM generate_series(1, ${count}::int) AS n`

const insertCalls = async ({ sql }: Database) => {
  await sql`
    INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, journal, state, sent_at, ended_at, outcome,
      hangup_cause, phone_number)
    SELECT gen_random_uuid(), 1, 1, row_no, 1, 'bench', ${journal}::uuid, 'ended', now(), now(), last_outcome, 'normal_clearing', phone_number
    FROM contacts WHERE state <> 'pending' ORDER BY row_no`
  await sql`
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, is_completed, completed_at,
      initial_context, gathered_context, usage_info, logs)
    SELECT 1, 1, 1, 1, a.id, 'WR-CAMPAIGN-1-' || row_no, 'ari', true, now(), c.context, '{"call_tags": []}', '{}', '{}'
    FROM attempts a JOIN contacts c USING (campaign_id, row_no) ORDER BY row_no`
}

const fill = (database: Database, lists: ReadonlyArray<ContactRows>) =>
  Effect.promise(async () => {
    const { sql } = database
    await sql`TRUNCATE contacts, attempts, runs, campaign_dials, conversation_entries, node_webhook_deliveries, text_chats, text_chat_turns`
    for (const [index, list] of lists.entries()) {
      const before = lists.slice(0, index).reduce((sum, { count }) => sum + count, 0)
      await insert(database, list, before)
    }
    await insertCalls(database)
    // The planner underestimates a table that was vacuumed while it was empty, which no database does by itself.
    await sql`VACUUM ANALYZE contacts`
    if (lists.some(({ state }) => state !== "pending")) await sql`VACUUM ANALYZE attempts, runs`
    await sql`CHECKPOINT`
  })

/** Vacuums happen only when a case asks for them. */
const withoutAutovacuum = ({ sql }: Database) =>
  sql.unsafe(["contacts", "attempts", "runs"].map((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`).join(";"))

const endOf = (callId: CallId, fate: ContactFate, now: number) => ({
  callId,
  decided: { fate, settingsVersion: 0 },
  end: {
    answeredAt: undefined,
    cause: "normal_clearing" as const,
    endedAt: now,
    outcome: fate.state === "retry_wait" ? ("busy" as const) : ("answered" as const),
    record: { gatheredContext: { call_tags: ["bench"] }, logs: {}, recordingKey: undefined, transcriptKey: undefined, usageInfo: {} }
  }
})

export const openClaimPlace = Effect.gen(function* () {
  const database = yield* startDatabase({ statistics: true, unsynced: true })
  const layer = Layer.mergeAll(AttemptStore.layer, schemaLayer).pipe(
    Layer.provide([databaseLayer(Redacted.make(database.url)), Layer.orDie(Config.layerOf({}))])
  )
  const store = Context.get(yield* Layer.build(layer), AttemptStore)
  yield* Effect.promise(() => prepare(database))
  yield* Effect.promise(() => withoutAutovacuum(database))
  const place: ClaimPlace = {
    database,
    fill: (lists) => fill(database, lists),
    claim: (count, now) =>
      store.claim({
        campaignId: CampaignId.make(1),
        ownerEpoch: 0,
        dialEpoch: 0,
        telephonyConfigurationId: TelephonyConfigId.make(1),
        provider: "ari",
        node: "bench",
        journal,
        callers: Array.from({ length: count }, () => null),
        usable: { numbers: [], rooms: [] },
        callIds: Array.from({ length: count }, () => newCallId(now)),
        now
      }),
    end: ({ attempts }, now, fateOf) => store.finish(attempts.map(({ callId }, index) => endOf(callId, fateOf(index), now)))
  }
  return place
}).pipe(Effect.orDie)
