/** What is deleted automatically, and above all what is not. */
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdir, rmdir } from "node:fs/promises"
import t, { type Test } from "tap"
import { condemn } from "#core/file/AbandonedUploads.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { Recordings } from "#core/recording/Recordings.ts"
import { Documents } from "#core/document/Documents.ts"
import { ResourceUploads } from "#core/file/ResourceUploads.ts"
import { Config } from "#runtime/config/config.ts"
import * as Housekeeping from "#runtime/Housekeeping.ts"
import { Files } from "#runtime/storage/Files.ts"
import { untilTrue } from "#test/support/engine.ts"
import { witness } from "#test/support/postgres.ts"
import { install, makeAgent, makeCampaign, ours, people, tag, theirs, upload } from "#test/store/services.ts"

const { database, run } = await install(t)
const other = witness(database.url)
t.teardown(() => other.end())

type Steps = Generator<Effect.Effect<unknown, unknown, Effect.Services<Parameters<typeof run>[0]>>, unknown, never>
const story = (title: string, tell: (t: Test, sql: SqlClient.SqlClient) => Steps) =>
  t.test(title, (t) => run(Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.gen(() => tell(t, sql)))))

interface Line {
  readonly message: unknown
  readonly annotations: Readonly<Record<string, unknown>>
}
/** A logger, and what it has logged. */
const listening = () => {
  const lines: Array<Line> = []
  const logger = Logger.make(({ fiber, message }) => {
    lines.push({ message: [message].flat()[0], annotations: fiber.getRef(References.CurrentLogAnnotations) })
  })
  return { lines, layer: Logger.layer([logger]) }
}
/** Runs the housekeeping once, and returns what it logged. */
const keepHouse = (auditDays = "365") => {
  const { layer, lines } = listening()
  const config = Layer.orDie(Config.layerOf({ AUDIT_DAYS: auditDays }))
  return Effect.as(Housekeeping.keepHouse.pipe(Effect.provide([config, layer])), lines)
}
const message = "expired data was deleted"
const deleted = (counts: object) => ({
  message,
  annotations: { uploads: 0, recordings: 0, transcripts: 0, idempotencyKeys: 0, auditEntries: 0, ...counts }
})

/** Makes the address look as if it had expired that long ago. */
const expire = (key: string, since: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE uploads SET expires_at = now() - ${since}::text::interval WHERE key = ${key}`)
const abandoned = Effect.fnUntraced(function* (organizationId = ours, list = people(3)) {
  const key = yield* upload(list, organizationId)
  yield* expire(key, "25 hours")
  return key
})
const what = Effect.fnUntraced(function* (key: string) {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files
  const rows = yield* sql`SELECT 1 FROM uploads WHERE key = ${key}`
  return { row: rows.length === 1, file: (yield* tag(files.stat(key))) === "none" }
})
const all = { row: true, file: true }
const nothing = { row: false, file: false }

const resources = Layer.mergeAll(Recordings.layer, Documents.layer).pipe(Layer.provideMerge(ResourceUploads.layer))
const file = { fileName: "greeting.wav", mediaType: "audio/wav", maxBytes: 1000 }
/** Stores the bytes of the upload, whose address has expired since. */
const putResource = Effect.fnUntraced(function* (key: string) {
  const files = yield* Files
  yield* files.write(key, Buffer.from("bytes"))
  yield* ResourceUploads.use((_) => _.complete(key, { sizeBytes: 5, fileHash: "" }, Effect.void))
  yield* expire(key, "25 hours")
})

story("given unused uploads whose addresses expired over a day ago, then rows and files go, and the log has one line", function* (t, sql) {
  const keys = [yield* abandoned(), yield* abandoned(theirs)]
  const unsent = (yield* Uploads.use((_) => _.request(ours, { fileName: "a.csv", fileSize: 1, contentType: "" }))).key
  yield* expire(unsent, "25 hours")
  yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at) VALUES ('no key at all', ${ours}, '', '', now() - interval '3 days')`
  t.strictSame(yield* keepHouse(), [deleted({ uploads: 4 })])
  t.strictSame(yield* Effect.forEach([...keys, unsent, "no key at all"], what), [nothing, nothing, nothing, nothing])
})

story("given an unused upload whose address expired less than a day ago, then it stays, and nothing is logged", function* (t) {
  const key = yield* upload(people(3))
  yield* expire(key, "23 hours")
  t.strictSame([yield* keepHouse(), yield* what(key)], [[], all])
  t.equal((yield* makeCampaign({ sourceId: key })).state, "draft")
})

story("given more unused uploads than a batch takes, and two nodes at once, then all go, each counted once", function* (t, sql) {
  yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at)
    SELECT 'campaigns/1/' || md5(n::text) || '_a.csv', ${ours}, 'a.csv', '', now() - interval '2 days' FROM generate_series(1, 250) n`
  const lines = (yield* Effect.all([keepHouse(), keepHouse()], { concurrency: 2 })).flat()
  t.strictSame(yield* sql`SELECT key FROM uploads WHERE used_at IS NULL`, [])
  const removed = lines.reduce((sum, { annotations }) => sum + Number(annotations["uploads"]), 0)
  t.equal(removed, 250)
})

story("given a file that cannot be removed, then its row stays, the others go, and it is tried again the next time", function* (t) {
  const files = yield* Files
  const [stuck = "", free = ""] = [yield* abandoned(), yield* abandoned()].sort()
  const path = yield* files.path(stuck)
  yield* files.remove(stuck)
  yield* Effect.promise(() => mkdir(path))
  t.strictSame(yield* keepHouse(), [
    { message: "abandoned uploads could not be removed", annotations: { files: 1 } },
    deleted({ uploads: 1 })
  ])
  t.strictSame([yield* what(stuck), yield* what(free)], [all, nothing])
  yield* Effect.promise(() => rmdir(path))
  yield* keepHouse()
  t.strictSame(yield* what(stuck), nothing)
})

story("given lists of campaigns, then they stay and can be used again; those of refused campaigns go", function* (t) {
  const key = yield* abandoned()
  const { id } = yield* makeCampaign({ sourceId: key })
  const useless = yield* abandoned(ours, "no_phone_number\n1\n")
  t.equal(yield* tag(makeCampaign({ sourceId: useless })), "SourceRefused")
  yield* keepHouse()
  t.strictSame([yield* what(key), yield* what(useless)], [all, nothing])
  t.ok((yield* makeCampaign({ sourceId: key })).id > id)
})

t.test("given uploads of which a recording or a document was created, then the files stay", async (t) => {
  const files = await run(
    Effect.gen(function* () {
      const recording = yield* Recordings.use((_) => _.requestUpload(ours, file, undefined))
      const document = yield* Documents.use((_) => _.requestUpload(ours, { ...file, fileName: "a.txt" }))
      const unused = yield* Recordings.use((_) => _.requestUpload(ours, file, undefined))
      const tickets = [recording, document, unused]
      for (const { key } of tickets) yield* putResource(key)
      yield* Recordings.use((_) => _.create(ours, { recordingId: recording.recordingId, storageKey: recording.key, transcript: "Hello" }))
      yield* Documents.use((_) => _.create(ours, { documentUuid: document.documentUuid, storageKey: document.key }))
      yield* keepHouse()
      return yield* Effect.forEach(tickets, ({ key }) => what(key))
    }).pipe(Effect.provide(resources))
  )
  t.strictSame(files, [{ row: false, file: true }, { row: false, file: true }, nothing])
})

story("given an upload that is only marked as used, or that something refers to without that mark, then it stays", function* (t, sql) {
  const keys = [yield* abandoned(), yield* abandoned(), yield* abandoned(), yield* abandoned()]
  const [marked = "", list = "", recording = "", document = ""] = keys
  yield* Uploads.use((_) => _.use(ours, marked))
  yield* makeCampaign({ sourceId: list })
  yield* sql`UPDATE uploads SET used_at = NULL WHERE key = ${list}`
  yield* sql`INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata)
    VALUES (${ours}, 'named', '', ${recording}, '{}')`
  yield* sql`INSERT INTO documents (organization_id, document_uuid, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata)
    VALUES (${ours}, gen_random_uuid(), '', 1, '', '', ${document}, '{}')`
  yield* keepHouse()
  t.strictSame(yield* Effect.forEach(keys, what), [all, all, all, all])
  yield* sql`UPDATE uploads SET used_at = now() WHERE key = ANY (${keys}::text[])`
})

/** Runs `between` while the creation of a campaign waits for that table, which it writes last. Returns what became of the campaign. */
const whileCreating = (
  key: string,
  table: "campaign_log" | "event_outbox",
  between: Effect.Effect<unknown, never, Files | SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const agent = yield* makeAgent()
    const locked = yield* Effect.promise(() => other.reserve())
    yield* Effect.promise(() => locked`BEGIN`)
    yield* Effect.promise(() => locked`LOCK TABLE ${locked(table)} IN EXCLUSIVE MODE`)
    const creating = yield* Effect.forkChild(tag(makeCampaign({ agentId: agent.id, sourceId: key })))
    const waits = async () => {
      const [lock] = await other<Array<{ count: number }>>`
        SELECT count(*)::int FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.relation = ${table}::regclass AND NOT l.granted AND d.datname = current_database()`
      return lock?.count === 1
    }
    yield* Effect.promise(() => untilTrue("creation that waits", waits))
    yield* between
    yield* Effect.promise(() => locked`COMMIT`)
    locked.release()
    return yield* Fiber.join(creating)
  })

story("given a list that is about to be deleted, when a campaign has it that is not committed yet, then the list stays", function* (t) {
  const key = yield* abandoned()
  t.equal(yield* whileCreating(key, "event_outbox", keepHouse()), "none")
  yield* keepHouse()
  t.strictSame(yield* what(key), all)
})

story("given a list from which a campaign is being created, when it goes while it is read, then there is no campaign", function* (t, sql) {
  const key = yield* abandoned()
  t.equal(yield* whileCreating(key, "campaign_log", keepHouse()), "SourceNotFound")
  t.strictSame([yield* what(key), yield* sql`SELECT id FROM campaigns WHERE source_id = ${key}`], [nothing, []])
})

story("given a node that dies before the file is gone, then it cannot be used, and is deleted the next time", function* (t, sql) {
  const key = yield* abandoned()
  t.equal(yield* whileCreating(key, "campaign_log", Effect.orDie(condemn(sql, ""))), "SourceNotFound")
  t.strictSame(yield* what(key), all)
  t.equal(yield* tag(makeCampaign({ sourceId: key })), "SourceNotFound")
  yield* keepHouse()
  t.strictSame(yield* what(key), nothing)
})

story("given a node that dies before the row is gone, then it is deleted the next time", function* (t, sql) {
  const key = yield* abandoned()
  yield* condemn(sql, "")
  yield* Files.use((_) => _.remove(key))
  yield* keepHouse()
  t.strictSame(yield* what(key), nothing)
})

story("given kept answers of two organizations, then those older than a day go, unless a request is using them", function* (t, sql) {
  const insert = (organizationId: number, key: string, age: string, status: number | null, leased: string) => sql`
    INSERT INTO idempotency_keys (organization_id, route, key, id, request_hash, created_at, leased_until, status, body)
    VALUES (${organizationId}, 'r', ${key}, gen_random_uuid(), '', now() - ${age}::text::interval, now() + ${leased}::text::interval,
      ${status}::int, ${status === null ? null : "{}"}::text)`
  for (const organizationId of [ours, theirs]) {
    yield* insert(organizationId, "old", "25 hours", 200, "-24 hours")
    yield* insert(organizationId, "left unanswered", "25 hours", null, "-1 second")
    yield* insert(organizationId, "worked on", "25 hours", null, "30 seconds")
    yield* insert(organizationId, "young", "23 hours", 200, "-22 hours")
  }
  yield* sql`INSERT INTO idempotency_keys (organization_id, route, key, id, request_hash, created_at, leased_until, status, body)
    SELECT ${ours}, 'r', n::text, gen_random_uuid(), '', now() - interval '2 days', now(), 200, '' FROM generate_series(1, 2100) n`
  t.strictSame(yield* keepHouse(), [deleted({ idempotencyKeys: 2104 })])
  const left = yield* sql<{ readonly key: string }>`SELECT key FROM idempotency_keys ORDER BY key, organization_id`
  const keys = left.map(({ key }) => key)
  t.strictSame(keys, ["worked on", "worked on", "young", "young"])
})

for (const [kept, auditDays, left] of [
  ["for a number of days, then older ones go, of every organization", "30", { count: 59, days: 29 }],
  ["forever, then all stay", "0", { count: 2400, days: 1200 }]
] as const)
  story(`given entries of the audit log that are kept ${kept}`, function* (t, sql) {
    yield* sql`INSERT INTO audit_log (organization_id, at, action, resource_kind)
      SELECT o.id, now() - make_interval(days => 1200 - n / 2), 'a', 'k' FROM generate_series(1, 2400) n JOIN organizations o ON o.id = 1 + n % 2`
    yield* keepHouse(auditDays)
    t.strictSame(yield* sql`SELECT count(*)::int, extract(day FROM now() - min(at))::int AS days FROM audit_log`, [left])
    yield* sql`DELETE FROM audit_log`
  })

story("given a running node, when an hour is over, then housekeeping runs again, whatever went wrong before", function* (t, sql) {
  const { layer: log, lines } = listening()
  const rounds = (count: number) =>
    Effect.promise(() => untilTrue("end of a round", () => lines.filter((line) => line.message === message).length === count))
  yield* Effect.gen(function* () {
    const first = yield* abandoned()
    yield* Layer.build(Housekeeping.layer.pipe(Layer.provide(Config.layerOf({}))))
    yield* rounds(1)
    const second = yield* abandoned()
    yield* sql`ALTER TABLE idempotency_keys RENAME TO hidden`
    yield* TestClock.adjust("59 minutes")
    t.strictSame(yield* what(second), all, "not before")
    yield* TestClock.adjust("1 minute")
    yield* rounds(2)
    yield* sql`ALTER TABLE hidden RENAME TO idempotency_keys`
    const third = yield* abandoned()
    yield* TestClock.adjust("1 hour")
    yield* rounds(3)
    t.strictSame(yield* Effect.forEach([first, second, third], what), [nothing, nothing, nothing])
  }).pipe(Effect.scoped, Effect.provide([TestClock.layer(), log]))
})

story("given campaigns, when they are listed, then each still has its list", function* (t) {
  const campaigns = yield* Campaigns.use((_) => _.list(ours))
  t.ok(campaigns.length > 0)
  for (const { sourceId } of campaigns) t.strictSame(yield* what(sourceId), all)
})
