/**
 * Records that Postgres refuses because of their content: the end of the call is recorded anyway, and the rest is kept for the operator. And
 * records that it delays.
 */
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import type { Attempt, AttemptEnd } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { CallId } from "#core/Id.ts"
import type { RunLogs } from "#core/run/RunRecord.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallNames } from "#runtime/call/CallNames.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { noConversations } from "#test/support/fakePorts.ts"
import { numbersOf } from "#test/store/claims.ts"
import { install, makeCampaign, makeConfig, ours, upload } from "#test/store/services.ts"

const { run } = await install(t)
const config = await run(makeConfig("main", true))
const dataDir = temporaryFolder(t)

const logged: Array<unknown> = []
const engine = CallJournal.layer.pipe(
  Layer.provideMerge(LocalJournal.layer),
  Layer.provide([CallNames.layer, Charge.layer, noConversations]),
  Layer.provideMerge(Layer.mergeAll(AttemptStore.layer, CampaignOwnership.layer)),
  Layer.provide(Layer.orDie(Config.layerOf({ DATA_DIR: dataDir }))),
  Layer.provideMerge(Logger.layer([Logger.make(({ message }) => void logged.push(message))]))
)
const callIdOf = (n: number) => CallId.make(`01890000-0000-7000-8000-${String(n).padStart(12, "0")}`)
const callIds = [1, 2, 3].map(callIdOf)
const spoken: RunLogs = {
  realtime_feedback_events: [{ type: "rtf-bot-text", payload: { text: "hello" }, timestamp: "2026-01-31T10:00:00.000Z", turn: 0 }]
}
/** A key that the database refuses. */
const refusedKey = "recordings/refused.wav"
const endOf = (callId: CallId, recordingKey: string | undefined): AttemptEnd => ({
  answeredAt: Date.now() - 5000,
  cause: "normal_clearing",
  endedAt: Date.now(),
  outcome: "answered",
  record: {
    gatheredContext: { call_id: callId, mood: "good" },
    logs: spoken,
    recordingKey,
    transcriptKey: undefined,
    usageInfo: {}
  }
})

const claimed = Effect.fnUntraced(function* (callIds: ReadonlyArray<CallId>, prefix = "+1415") {
  const sql = yield* SqlClient.SqlClient
  const people = numbersOf(callIds.length, prefix).map((number) => `${number},Ada\n`)
  const { id } = yield* makeCampaign({ sourceId: yield* upload(`phone_number,first_name\n${people.join("")}`) })
  yield* Campaigns.use((_) => _.start(ours, id))
  const [row] = yield* sql<{ readonly dialEpoch: number }>`SELECT dial_epoch FROM campaigns WHERE id = ${id}`
  const { attempts } = yield* CallJournal.use((_) =>
    _.claim(
      {
        callers: callIds.map(() => null),
        callIds,
        campaignId: id,
        dialEpoch: row?.dialEpoch ?? 0,
        node: "here",
        now: Date.now(),
        ownerEpoch: 0,
        provider: "fake",
        telephonyConfigurationId: config.id,
        usable: { numbers: [], rooms: [] }
      },
      () => {}
    )
  )
  const { retry } = yield* Campaigns.use((_) => _.get(ours, id))
  const settings = { breakerEnabled: false, breakerEpoch: 0, campaignId: id, retriesUsed: 0, retry, settingsVersion: 0 }
  return { attempts: attempts.map(({ rowNo, ...attempt }): Attempt => ({ ...attempt, campaign: { ...settings, rowNo } })), id }
})

t.test("given records of which some are refused, when their calls end, then all ends are recorded", async (t) => {
  const { rows, state } = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE runs ADD CHECK (recording_key <> ${sql.literal(`'${refusedKey}'`)})`
      const { attempts, id } = yield* claimed(callIds)
      const journal = yield* CallJournal
      const keyOf = (callId: CallId) => (callId === callIds[1] ? undefined : refusedKey)
      const end = (attempt: Attempt) => journal.ended(attempt, endOf(attempt.callId, keyOf(attempt.callId)))
      yield* Effect.forEach(attempts, end, { concurrency: "unbounded" })
      const { state } = yield* Campaigns.use((_) => _.get(ours, id))
      const rows = yield* sql`
        SELECT a.outcome, c.state AS contact, r.gathered_context ->> 'mood' AS mood, r.gathered_context ->> 'call_disposition' AS disposition
        FROM attempts a JOIN contacts c USING (campaign_id, row_no) JOIN runs r ON r.attempt_id = a.id WHERE a.campaign_id = ${id} ORDER BY a.id`
      return { rows, state }
    }).pipe(Effect.provide(engine))
  )
  const bare = { contact: "completed", disposition: "user_hangup", mood: null, outcome: "answered" }
  t.strictSame(rows, [bare, { ...bare, disposition: null, mood: "good" }, bare])
  t.equal(state, "completed", "then the campaign is complete")
  const [path = ""] = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("refused.jsonl"))
  const lines = readFileSync(join(dataDir, path), "utf8").trim().split("\n")
  t.match(
    lines.map((line): unknown => JSON.parse(line)),
    [callIds[0], callIds[2]].map((callId) => ({ callId, cause: "normal_clearing", record: { logs: spoken } })),
    "then the rest is kept"
  )
  t.equal(statSync(join(dataDir, path)).mode & 0o777, 0o600)
  const refusals = logged.filter((message) => JSON.stringify(message).includes("refuses the record of a call")).length
  t.equal(refusals, 2, "then the log says so once of each")
  t.notMatch(JSON.stringify(logged), "hello")
})

t.test("given a campaign whose row is locked, when its calls end, then those of others are recorded in the meantime", async (t) => {
  const held = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* CallJournal
      const [one, other] = [yield* claimed([callIdOf(11), callIdOf(12)]), yield* claimed([callIdOf(21), callIdOf(22)], "+1416")]
      const [locked, done] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      const holding = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT FROM campaigns WHERE id = ${one.id} FOR UPDATE`
            Deferred.doneUnsafe(locked, Effect.void)
            yield* Deferred.await(done)
          })
        )
      )
      yield* Deferred.await(locked)
      t.equal(one.attempts.length + other.attempts.length, 4)
      const answeredAndEnded = ({ attempts }: typeof one) => {
        const life = (attempt: Attempt) =>
          Effect.andThen(journal.answered(attempt, Date.now(), undefined), journal.ended(attempt, endOf(attempt.callId, undefined)))
        return Effect.forEach(attempts, life, { concurrency: "unbounded", discard: true })
      }
      const waiting = yield* Effect.forkChild(answeredAndEnded(one))
      const blocked = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* Effect.repeat(blocked, { until: (rows) => rows.length > 0 })
      yield* answeredAndEnded(other)
      const stillLive = yield* sql`SELECT FROM attempts WHERE campaign_id = ${one.id} AND state IN ('sent', 'answered')`
      Deferred.doneUnsafe(done, Effect.void)
      yield* Fiber.join(holding)
      yield* Fiber.join(waiting)
      const over = yield* sql`SELECT FROM attempts WHERE campaign_id = ${one.id} AND state = 'ended'`
      return { over: over.length, stillLive: stillLive.length }
    }).pipe(Effect.provide(engine))
  )
  t.strictSame(held, { over: 2, stillLive: 2 })
})
