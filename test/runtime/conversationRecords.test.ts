/** What conversations store in Postgres while they last: read back once after a kill, and without a word where none may be kept. */
import { Effect, Fiber, Layer, Logger, Result, type Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t, { type Test } from "tap"
import type { NewAttempt } from "#core/call/Attempt.ts"
import { CallState } from "#core/call/Call.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { append, forget } from "#core/conversation/ConversationStore.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { bareEnd } from "#runtime/call/RunReport.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import { makeEntryWriter } from "#runtime/conversation/EntryWriter.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { json } from "#runtime/metrics/telemetry.ts"
import { ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { installClaims } from "#test/store/claims.ts"
import { ours, theirs } from "#test/store/services.ts"
import { canaries, conversationSoFar, recordsLayer } from "#test/support/conversationScene.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { witness } from "#test/support/postgres.ts"
import { effectOf, type Work } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const { begin, claimBehind, database, ids, run, running } = await installClaims(t)
const sql = witness(database.url)
t.teardown(() => sql.end())
const child = fileURLToPath(new URL("../support/conversationMain.ts", import.meta.url))

const folder = (t: Test): string => {
  const made = temporaryFolder(t)
  return made
}

const logged: Array<string> = []
const metrics = new ConversationMetrics()
const engine = (dataDir: string) =>
  recordsLayer(dataDir).pipe(
    Layer.provideMerge(
      Layer.merge(Logger.layer([Logger.map(json, (line) => void logged.push(line))]), Layer.succeed(CurrentConversationMetrics, metrics))
    )
  )
type Engine = Layer.Success<ReturnType<typeof engine>>
const inEngine = <A>(dataDir: string, work: Work<A, Engine | SqlClient.SqlClient | Scope.Scope>) =>
  run(Effect.provide(effectOf(work), engine(dataDir)))

const callOf = ({ callId, organizationId, phoneNumber, runId }: NewAttempt, keepsTranscript = true) => ({
  callId,
  organizationId,
  phoneNumber,
  runId,
  isContinued: false,
  keepsTranscript,
  timeZone: "America/New_York"
})

/** Records the end of an answered call with this cause. */
const ended = (attempt: NewAttempt, cause: "node_lost" | "normal_clearing") =>
  CallJournal.use((_) => _.ended(attempt, bareEnd(attempt.callId, CallState.cases.Ended.make({ answeredAt: 1000, cause, endedAt: 9000 }))))

const converse = (attempt: NewAttempt, facts: ReadonlyArray<CallFact>, keepsTranscript = true) =>
  ConversationRecords.use((_) =>
    Effect.sync(() => {
      const { note } = _.open(callOf(attempt, keepsTranscript))
      facts.forEach(note)
    })
  )

const begun = (phoneNumber: string): Promise<NewAttempt> => run(begin(phoneNumber))

const runOf = async ({ runId }: NewAttempt) => {
  const [row] =
    await sql`SELECT gathered_context, logs, usage_info, cost_info, annotations, transcript_key, is_completed FROM runs WHERE id = ${runId}`
  return row ?? {}
}
const eventsIn = (row: Awaited<ReturnType<typeof runOf>>): ReadonlyArray<{ readonly type: string; readonly payload: object }> =>
  row["logs"]?.realtime_feedback_events ?? []
const entriesLeft = async ({ callId }: NewAttempt) => (await sql`SELECT FROM conversation_entries WHERE call_id = ${callId}`).length
const outbox = ({ runId }: NewAttempt, type: string) =>
  sql`SELECT data FROM (SELECT type, data FROM event_outbox UNION ALL SELECT type, data FROM events) e
    WHERE type = ${type} AND (data ->> 'run_id')::int = ${runId}`

/** Locks tables until the returned effect is run. */
const locked = async (tables: string) => {
  const lock = await sql.reserve()
  await lock`BEGIN`
  await lock.unsafe(`LOCK TABLE ${tables}`)
  return Effect.promise(async () => {
    await lock`ROLLBACK`
    lock.release()
  })
}
const anyCanary = new RegExp(canaries.join("|"))

const allText = (dir: string): string =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"))
    .join("\n")

/** The columns of the whole database that contain a word. */
const columnsWith = async (word: string): Promise<ReadonlyArray<string>> => {
  const columns = await sql<{ table_name: string; column_name: string }[]>`
    SELECT table_name, column_name FROM information_schema.columns JOIN pg_tables ON tablename = table_name
    WHERE table_schema = 'public' AND schemaname = 'public' AND data_type IN ('text', 'jsonb', 'json', 'ARRAY', 'character varying')`
  const found: Array<string> = []
  for (const { column_name, table_name } of columns) {
    const rows = await sql`SELECT FROM ${sql(table_name)} WHERE ${sql(column_name)}::text LIKE ${`%${word}%`} LIMIT 1`
    if (rows.length > 0) found.push(`${table_name}.${column_name}`)
  }
  return found
}

/** Starts a process that holds a conversation with the callee of this call, and kills it when that has happened. */
const killedWhen = async (
  t: Test,
  { callId, organizationId, phoneNumber, runId }: NewAttempt,
  dataDir: string,
  what: string,
  hasHappened: (output: string) => boolean
) => {
  const started = spawn(process.execPath, [child, database.url, dataDir, callId, String(organizationId), String(runId), phoneNumber], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  t.teardown(() => started.kill("SIGKILL"))
  let output = ""
  started.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()))
  await untilTrue(what, () => {
    if (started.exitCode !== null) throw new Error("the conversation has failed")
    return hasHappened(output)
  })
  const gone = once(started, "exit")
  started.kill("SIGKILL")
  await gone
}

t.test("given a process that is killed during a conversation", async (t) => {
  const dataDir = folder(t)
  const attempt = await begun("+13035550101")
  await killedWhen(t, attempt, dataDir, "a conversation in the database", (output) => output.includes("written"))

  await t.test("when the next one records the end of the call, then the run has everything that was written, once", async (t) => {
    const own = [
      { kind: "stt", provider: "scripted" },
      { kind: "stt", provider: "scripted", model: "*", per_minute: 0.6 }
    ]
    await sql`UPDATE organizations SET service_prices = ${sql.json(own)} WHERE id = ${attempt.organizationId}`
    await inEngine(dataDir, Effect.andThen(ended(attempt, "node_lost"), ended(attempt, "node_lost")))
    const row = await runOf(attempt)
    t.match(row, {
      is_completed: true,
      gathered_context: {
        mood: "merry",
        extracted_variables: { mood: "merry" },
        nodes_visited: ["start"],
        call_disposition: "user_disqualified",
        mapped_call_disposition: "user_disqualified",
        call_tags: ["user_disqualified", "user_speech", "opted_out"],
        dtmf_digits: "7",
        callback_at: "2026-03-06T10:00:00-05:00",
        callback_time_zone: "America/New_York",
        hangup_cause: "node_lost"
      },
      usage_info: { llm: { "embedded#0|||rules": { total_tokens: 12 } }, tts: { "flite#0|||slt": 30 }, stt: { "scripted#0|||words": 1.5 } },
      cost_info: {
        total_cost_usd: 0.015,
        is_complete: true,
        services: [
          { provider: "embedded", unit: "prompt_tokens", quantity: 5, cost_usd: 0 },
          { unit: "cached_prompt_tokens", quantity: 2 },
          { unit: "completion_tokens", quantity: 5 },
          { provider: "flite", cost_usd: 0 },
          {
            kind: "stt",
            provider: "scripted",
            model: "words",
            unit: "seconds",
            quantity: 1.5,
            price_usd: 0.6,
            price_per: 60,
            cost_usd: 0.015
          }
        ]
      },
      annotations: { conversation: { turns: 2, latency_seconds: { first_audio: { p50: 0.24 } } } }
    })
    const types = eventsIn(row).map(({ type }) => type.slice("rtf-".length))
    t.strictSame(types, [
      ...["node-transition", "bot-text", "user-transcription", "stage-metric", "function-call-start", "function-call-end"],
      ...["latency-measured", "node-transition", "user-transcription"]
    ])
    t.match(
      readFileSync(join(dataDir, "files", String(row["transcript_key"])), "utf8"),
      /assistant: Hello zebrawood\.\n.*user: I like quicksilver\n/
    )
    t.equal(await entriesLeft(attempt), 0, "then nothing is left behind")
    t.equal((await sql`SELECT FROM agent_dispositions WHERE code = 'user_disqualified'`).length, 1, "then the disposition is learned")
  })

  await t.test("then the callee is not called again, and both promises are reported once", async (t) => {
    const again = await run(Effect.result(begin(attempt.phoneNumber)))
    t.ok(Result.isFailure(again) && again.failure._tag === "NumberOptedOut")
    const campaign = await run(running([attempt.phoneNumber]))
    t.strictSame((await run(claimBehind(campaign, ids(1)))).attempts, [])
    t.match(await outbox(attempt, "contact.opted_out"), [{ data: { phone_number: attempt.phoneNumber, source: "call" } }])
    const agreed = await outbox(attempt, "contact.callback_agreed")
    t.match(agreed, [
      { data: { callback_at: "2026-03-06T10:00:00-05:00", time_zone: "America/New_York", phone_number: attempt.phoneNumber } }
    ])
    t.equal(agreed.length, 1)
  })
})

t.test("given an opt-out that the database had no time to take, when the process is killed, then its journal has it", async (t) => {
  const [dataDir, name] = [folder(t), new URL(database.url).pathname.slice(1)]
  const attempt = await begun("+13035550102")
  const unlock = await locked("opt_outs, conversation_entries IN SHARE ROW EXCLUSIVE MODE")
  await killedWhen(t, attempt, dataDir, "an opt-out in the journal", () => allText(dataDir).includes(`opted_out ${attempt.callId}`))
  // Its statements would otherwise be carried out once the tables are free.
  const end = () => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name} AND wait_event = 'relation'`
  await untilTrue("the end of its statements", async () => (await end()).length === 0)
  await Effect.runPromise(unlock)
  const known = await inEngine(dataDir, function* () {
    const { hasOptedOut } = (yield* LocalJournal).known(attempt.callId, undefined)
    // Twice, as when a process that recovers it is killed.
    for (let time = 1; time <= 2; time++) yield* ConversationRecords.use((_) => _.optedOut(attempt))
    yield* ended(attempt, "node_lost")
    return hasOptedOut
  })
  t.equal(known, true)
  t.equal((await sql`SELECT FROM opt_outs WHERE phone_number = ${attempt.phoneNumber}`).length, 1)
  const { gathered_context: gathered } = await runOf(attempt)
  t.match(gathered, { call_disposition: "user_disqualified", call_tags: ["user_disqualified", "opted_out"] }, "then its run says so")
  t.notMatch(allText(dataDir), anyCanary, "then it has nothing else of the conversation")
})

t.test("given a conversation that is over, when the call is recorded", async (t) => {
  const dataDir = folder(t)
  const attempt = await begun("+13035550103")
  const before = { live: metrics.live, turns: metrics.turns, callbacks: metrics.callbacks }
  const concluded: CallFact = {
    _tag: "Remembered",
    gathered: { mood: "\u0000\ud800", call_disposition: "interested", call_tags: ["interested", "user_speech"] }
  }
  const live = await inEngine(dataDir, function* () {
    yield* converse(attempt, [...conversationSoFar(false), concluded])
    const live = metrics.live
    yield* ended(attempt, "normal_clearing")
    return live
  })
  const row = await runOf(attempt)
  t.match(row["gathered_context"], {
    call_disposition: "interested",
    mapped_call_disposition: "interested",
    call_tags: ["interested", "user_speech"]
  })
  t.equal(row["gathered_context"].mood, "\ufffd\ufffd", "then what Postgres cannot store is replaced")
  t.equal(eventsIn(row).length, 9)
  t.strictSame([live, metrics.live], [before.live + 1, before.live])
  t.strictSame([metrics.turns, metrics.callbacks], [before.turns + 1, before.callbacks + 1])
  t.equal(metrics.latencySeconds.get("first_audio")?.get("flite")?.sum.toFixed(2), "0.24")
  t.equal((await sql`SELECT FROM opt_outs WHERE phone_number = ${attempt.phoneNumber}`).length, 0)
  const quiet =
    JSON.stringify(logged) +
    JSON.stringify([...metrics.latencySeconds].map(([stage, providers]) => [stage, ...providers])) +
    JSON.stringify(metrics)
  t.notMatch(quiet, new RegExp([...canaries, "interested", "303555"].join("|")), "then logs and metrics contain nothing of what was said")
})

t.test("given an organization without transcripts, when its calls have been recorded, then no word is stored anywhere", async (t) => {
  const dataDir = folder(t)
  // Removes what earlier stories have left, one of whose calls never ended.
  await sql`TRUNCATE event_outbox, events, conversation_entries CASCADE`
  await sql`UPDATE runs SET logs = NULL, gathered_context = NULL`
  const attempt = await begun("+13035550104")
  const heard: Array<string> = []
  await inEngine(dataDir, function* () {
    const { watch } = yield* LiveFeedback
    yield* Effect.forkScoped(
      Stream.runForEach(watch(ours, attempt.runId), (event) => Effect.sync(() => void heard.push(JSON.stringify(event)))),
      { startImmediately: true }
    )
    yield* converse(attempt, conversationSoFar(false), false)
    yield* ConversationRecords.use((_) => _.collect(attempt))
    t.equal((yield* Effect.promise(() => Promise.all(canaries.map(columnsWith)))).flat().length, 0, "then none during the call")
    yield* ended(attempt, "normal_clearing")
  })
  t.strictSame((await Promise.all(canaries.map(columnsWith))).flat(), [])
  t.notMatch(allText(dataDir) + JSON.stringify(logged) + heard.join(""), anyCanary)
  const row = await runOf(attempt)
  t.match(row, { transcript_key: null, gathered_context: { mood: "merry", dtmf_digits: "7" } })
  t.ok(heard.length > 0 && eventsIn(row).length > 0, "then the visited nodes are still recorded")
  // The search does find what is there.
  t.strictSame(await columnsWith("merry"), ["runs.gathered_context"])
})

t.test("given a database that stands still, when a conversation continues, then it does not wait, but its end does", async (t) => {
  const attempt = await begun("+13035550109")
  const [waiting, isOver] = await inEngine(folder(t), function* () {
    const unlock = yield* Effect.promise(() => locked("conversation_entries IN ACCESS EXCLUSIVE MODE"))
    yield* converse(attempt, conversationSoFar(true))
    const fiber = yield* Effect.forkScoped(ended(attempt, "normal_clearing"), { startImmediately: true })
    yield* Effect.promise(() => untilTrue("an opt-out", async () => (await outbox(attempt, "contact.opted_out")).length === 1))
    const early = [metrics.entriesWaiting, fiber.pollUnsafe() !== undefined] as const
    yield* Effect.andThen(unlock, Fiber.join(fiber))
    return early
  })
  t.ok(waiting > 0)
  t.equal(isOver, false)
  t.equal(eventsIn(await runOf(attempt)).length, 9)
  t.equal(metrics.entriesWaiting, 0)
})

t.test("given an end that waits in the journal until it can be recorded, then that has nothing that was said or keyed", async (t) => {
  const dataDir = folder(t)
  const attempt = await begun("+13035550108")
  const bare = bareEnd(attempt.callId, CallState.cases.Ended.make({ answeredAt: 1000, cause: "normal_clearing", endedAt: 9000 }))
  const said = { type: "rtf-bot-text", payload: { text: canaries[0] }, timestamp: "2026-03-05T15:00:00.100Z", turn: 0 } as const
  const gatheredContext = { ...bare.record.gatheredContext, dtmf_digits: "90125" }
  const end = { ...bare, record: { ...bare.record, gatheredContext, logs: { realtime_feedback_events: [said] } } }
  const unlock = await locked("runs IN ACCESS EXCLUSIVE MODE")
  const kept = () => allText(join(dataDir, "journal"))
  const waiting = await inEngine(dataDir, function* () {
    const fiber = yield* Effect.forkScoped(CallJournal.use((_) => _.ended(attempt, end)))
    yield* Effect.promise(() => untilTrue("an end in the journal", () => kept().includes(`ended ${attempt.callId}`)))
    const waiting = kept()
    yield* Effect.andThen(unlock, Fiber.join(fiber))
    return waiting
  })
  t.notMatch(waiting, /zebrawood|90125/)
  t.match(await runOf(attempt), {
    gathered_context: { dtmf_digits: "90125" },
    logs: { realtime_feedback_events: [{ payload: { text: "zebrawood" } }] }
  })
})

t.test("given somebody who watches a call, then they see it, and nobody from another organization does", async (t) => {
  const attempt = await begun("+13035550105")
  const seen: Array<string> = []
  await inEngine(folder(t), function* () {
    const { watch } = yield* LiveFeedback
    for (const [who, organizationId] of [["we", ours] as const, ["they", theirs] as const])
      yield* Effect.forkScoped(
        Stream.runForEach(watch(organizationId, attempt.runId), ({ type }) => Effect.sync(() => void seen.push(`${who} ${type}`))),
        { startImmediately: true }
      )
    yield* converse(attempt, conversationSoFar(false))
    yield* ended(attempt, "normal_clearing")
  })
  t.equal(seen.length, 9)
  t.strictSame(seen.slice(0, 3), ["we rtf-node-transition", "we rtf-bot-text", "we rtf-stage-metric"])
})

t.test("given entries that are written twice, and one that cannot be stored, then the others are stored once, in order", async (t) => {
  const attempt = await begun("+13035550106")
  const { callId, organizationId } = attempt
  const kind = "event" as const
  const row = (ordinal: number, content: object) => ({ callId, content: JSON.stringify(content), kind, ordinal, organizationId })
  const rows = [row(2, { n: 2 }), row(0, { n: 0 }), row(1, { n: 1 })]
  const broken = { ...row(4, {}), content: "no JSON" }
  await run(function* () {
    const { add, written } = yield* makeEntryWriter(new ConversationMetrics())
    add(rows)
    yield* written
    add([...rows, broken, row(0, { n: 9 }), row(3, { n: 3 })])
    yield* written
  })
  const kept = await sql`SELECT content FROM conversation_entries WHERE call_id = ${callId} ORDER BY ordinal`
  const numbers = kept.map(({ content }) => content.n)
  t.strictSame(numbers, [0, 1, 2, 3])

  await t.test("when their call has long been over, then they are deleted, and those of live calls are not", async (t) => {
    const live = await begun("+13035550107")
    await run(Effect.flatMap(SqlClient.SqlClient, (sql) => append(sql, [{ ...row(0, {}), callId: live.callId }])))
    await sql`UPDATE conversation_entries SET created_at = now() - interval '1 day'`
    await sql`UPDATE attempts SET state = 'ended' WHERE id = ${callId}`
    t.equal(await run(Effect.flatMap(SqlClient.SqlClient, forget)), 4)
    t.strictSame([await entriesLeft(attempt), await entriesLeft(live)], [0, 1])
  })
})
