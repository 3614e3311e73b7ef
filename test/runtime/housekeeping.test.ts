/** What is deleted automatically, and above all what is not. */
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdir, rmdir } from "node:fs/promises"
import t from "tap"
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
const done = "expired data was deleted"

/** Makes the address look as if it had expired that long ago. */
const expire = (key: string, since: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE uploads SET expires_at = now() - ${since}::text::interval WHERE key = ${key}`)
const abandoned = Effect.fnUntraced(function* (organizationId = ours) {
  const key = yield* upload(people(3), organizationId)
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
/** Stores the bytes of the upload. */
const putResource = Effect.fnUntraced(function* (key: string) {
  const files = yield* Files
  yield* files.write(key, Buffer.from("bytes"))
  yield* ResourceUploads.use((_) => _.complete(key, { sizeBytes: 5, fileHash: "" }, Effect.void))
})

t.test("given uploads that were never used", async (t) => {
  t.test("when their addresses expired over a day ago, then rows and files go, and the log has one line", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = [yield* abandoned(), yield* abandoned(theirs)]
        const unsent = (yield* Uploads.use((_) => _.request(ours, { fileName: "a.csv", fileSize: 1, contentType: "" }))).key
        yield* expire(unsent, "25 hours")
        yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at) VALUES ('no key at all', ${ours}, '', '', now() - interval '3 days')`
        const lines = yield* keepHouse()
        return { lines, left: yield* Effect.forEach([...keys, unsent, "no key at all"], what) }
      })
    )
    t.strictSame(found.left, [nothing, nothing, nothing, nothing])
    t.strictSame(found.lines, [
      { message: done, annotations: { uploads: 4, recordings: 0, transcripts: 0, idempotencyKeys: 0, auditEntries: 0 } }
    ])
  })

  t.test("when it has not been a day, then they stay, and nothing is logged", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const key = yield* upload(people(3))
        yield* expire(key, "23 hours")
        const lines = yield* keepHouse()
        return { lines, left: yield* what(key), made: yield* makeCampaign({ sourceId: key }) }
      })
    )
    t.strictSame([found.lines, found.left, found.made.state], [[], all, "draft"])
  })

  t.test("when there are more than a batch takes, and two nodes at once, then all go, each counted once", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at)
          SELECT 'campaigns/1/' || md5(n::text) || '_a.csv', ${ours}, 'a.csv', '', now() - interval '2 days' FROM generate_series(1, 250) n`
        const lines = (yield* Effect.all([keepHouse(), keepHouse()], { concurrency: 2 })).flat()
        return { lines, left: yield* sql`SELECT key FROM uploads WHERE used_at IS NULL` }
      })
    )
    t.strictSame(found.left, [])
    t.equal(
      found.lines.reduce((sum, { annotations }) => sum + Number(annotations["uploads"]), 0),
      250
    )
  })

  t.test("when a file cannot be removed, then its row stays, the others go, and it is tried again the next time", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const files = yield* Files
        const keys = [yield* abandoned(), yield* abandoned()].sort()
        const [stuck = "", free = ""] = keys
        const path = yield* files.path(stuck)
        yield* files.remove(stuck)
        yield* Effect.promise(() => mkdir(path))
        const lines = yield* keepHouse()
        const before = [yield* what(stuck), yield* what(free)]
        yield* Effect.promise(() => rmdir(path))
        yield* keepHouse()
        return { lines, before, after: yield* what(stuck) }
      })
    )
    t.strictSame(found.before, [all, nothing])
    t.strictSame(found.after, nothing)
    t.strictSame(found.lines, [
      { message: "abandoned uploads could not be removed", annotations: { files: 1 } },
      { message: done, annotations: { uploads: 1, recordings: 0, transcripts: 0, idempotencyKeys: 0, auditEntries: 0 } }
    ])
  })
})

t.test("given uploads that were used", async (t) => {
  t.test("when a campaign was created, then its list stays, and another campaign can be created from it", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const key = yield* abandoned()
        const { id } = yield* makeCampaign({ sourceId: key })
        yield* keepHouse()
        const second = yield* makeCampaign({ sourceId: key })
        return { left: yield* what(key), id, second: second.id }
      })
    )
    t.strictSame(found.left, all)
    t.ok(found.second > found.id)
  })

  t.test("when the campaign was refused, then its list goes", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const key = yield* upload("no_phone_number\n1\n")
        yield* expire(key, "25 hours")
        const refused = yield* tag(makeCampaign({ sourceId: key }))
        yield* keepHouse()
        return { refused, left: yield* what(key) }
      })
    )
    t.strictSame([found.refused, found.left], ["SourceRefused", nothing])
  })

  t.test("when a recording or a document was created, then the file stays", async (t) => {
    const files = await run(
      Effect.gen(function* () {
        const recording = yield* Recordings.use((_) => _.requestUpload(ours, file, undefined))
        const document = yield* Documents.use((_) => _.requestUpload(ours, { ...file, fileName: "a.txt" }))
        const unused = yield* Recordings.use((_) => _.requestUpload(ours, file, undefined))
        const tickets = [recording, document, unused]
        for (const { key } of tickets) {
          yield* putResource(key)
          yield* expire(key, "25 hours")
        }
        yield* Recordings.use((_) => _.create(ours, { recordingId: recording.recordingId, storageKey: recording.key, transcript: "Hello" }))
        yield* Documents.use((_) => _.create(ours, { documentUuid: document.documentUuid, storageKey: document.key }))
        yield* keepHouse()
        return yield* Effect.forEach(tickets, ({ key }) => what(key))
      }).pipe(Effect.provide(resources))
    )
    t.strictSame(files, [{ row: false, file: true }, { row: false, file: true }, nothing])
  })

  t.test("when it is marked as used, and nothing refers to it, then it stays", async (t) => {
    const left = await run(
      Effect.gen(function* () {
        const key = yield* abandoned()
        yield* Uploads.use((_) => _.use(ours, key))
        yield* keepHouse()
        return yield* what(key)
      })
    )
    t.strictSame(left, all)
  })

  t.test("when something refers to the file without having marked it as used, then it stays", async (t) => {
    const files = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = [yield* abandoned(), yield* abandoned(), yield* abandoned()]
        const [list = "", recording = "", document = ""] = keys
        yield* makeCampaign({ sourceId: list })
        yield* sql`UPDATE uploads SET used_at = NULL WHERE key = ${list}`
        yield* sql`INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata)
          VALUES (${ours}, 'named', '', ${recording}, '{}')`
        yield* sql`INSERT INTO documents (organization_id, document_uuid, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata)
          VALUES (${ours}, gen_random_uuid(), '', 1, '', '', ${document}, '{}')`
        yield* keepHouse()
        const left = yield* Effect.forEach(keys, what)
        yield* sql`UPDATE uploads SET used_at = now() WHERE key = ANY (${keys}::text[])`
        return left
      })
    )
    t.strictSame(files, [all, all, all])
  })
})

/** Runs `between` while the creation of a campaign waits for that table, which it writes last. */
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

t.test("given a list that is about to be deleted, from which a campaign is being created", async (t) => {
  t.test("when the campaign has the list, and is not committed yet, then the list stays", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const key = yield* abandoned()
        const made = yield* whileCreating(key, "event_outbox", keepHouse())
        yield* keepHouse()
        return { made, left: yield* what(key) }
      })
    )
    t.strictSame(found, { made: "none", left: all })
  })

  t.test("when the list goes while it is read, then there is no campaign", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = yield* abandoned()
        const made = yield* whileCreating(key, "campaign_log", keepHouse())
        return { made, left: yield* what(key), campaigns: yield* sql`SELECT id FROM campaigns WHERE source_id = ${key}` }
      })
    )
    t.strictSame(found, { made: "SourceNotFound", left: nothing, campaigns: [] })
  })

  t.test("when the node dies before the file is gone, then it cannot be used, and is deleted the next time", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = yield* abandoned()
        const made = yield* whileCreating(key, "campaign_log", Effect.orDie(condemn(sql, "")))
        const before = yield* what(key)
        const refused = yield* tag(makeCampaign({ sourceId: key }))
        yield* keepHouse()
        return { made, before, refused, after: yield* what(key) }
      })
    )
    t.strictSame(found, { made: "SourceNotFound", before: all, refused: "SourceNotFound", after: nothing })
  })

  t.test("when the node dies before the row is gone, then it is deleted the next time", async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const key = yield* abandoned()
        yield* condemn(yield* SqlClient.SqlClient, "")
        yield* Files.use((_) => _.remove(key))
        yield* keepHouse()
        return yield* what(key)
      })
    )
    t.strictSame(found, nothing)
  })
})

t.test(
  "given kept answers of two organizations, when they are older than a day, then they are deleted, unless a request is using them",
  async (t) => {
    const found = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
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
        const lines = yield* keepHouse()
        const left = yield* sql<{ readonly key: string }>`SELECT key FROM idempotency_keys ORDER BY key, organization_id`
        return { lines, left: left.map(({ key }) => key) }
      })
    )
    t.strictSame(found.left, ["worked on", "worked on", "young", "young"])
    t.strictSame(found.lines, [
      { message: done, annotations: { uploads: 0, recordings: 0, transcripts: 0, idempotencyKeys: 2104, auditEntries: 0 } }
    ])
  }
)

t.test("given entries of the audit log", async (t) => {
  const entries = (auditDays: string) =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO audit_log (organization_id, at, action, resource_kind)
          SELECT o.id, now() - make_interval(days => 1200 - n / 2), 'a', 'k' FROM generate_series(1, 2400) n JOIN organizations o ON o.id = 1 + n % 2`
        yield* keepHouse(auditDays)
        const [left] = yield* sql<{ readonly count: number; readonly days: number }>`
          SELECT count(*)::int, extract(day FROM now() - min(at))::int AS days FROM audit_log`
        yield* sql`DELETE FROM audit_log`
        return left
      })
    )
  t.test("when they are kept for a number of days, then older ones go, of every organization", async (t) => {
    t.strictSame(await entries("30"), { count: 59, days: 29 })
  })
  t.test("when they are kept forever, then all stay", async (t) => {
    t.strictSame(await entries("0"), { count: 2400, days: 1200 })
  })
})

t.test("given a running node, when an hour is over, then housekeeping runs again, whatever went wrong before", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { layer: log, lines } = listening()
      const rounds = (count: number) =>
        Effect.promise(() => untilTrue("end of a round", () => lines.filter(({ message }) => message === done).length === count))
      return yield* Effect.gen(function* () {
        const first = yield* abandoned()
        yield* Layer.build(Housekeeping.layer.pipe(Layer.provide(Config.layerOf({}))))
        yield* rounds(1)
        const second = yield* abandoned()
        yield* sql`ALTER TABLE idempotency_keys RENAME TO hidden`
        yield* TestClock.adjust("59 minutes")
        const early = yield* what(second)
        yield* TestClock.adjust("1 minute")
        yield* rounds(2)
        yield* sql`ALTER TABLE hidden RENAME TO idempotency_keys`
        const third = yield* abandoned()
        yield* TestClock.adjust("1 hour")
        yield* rounds(3)
        return { early, left: yield* Effect.forEach([first, second, third], what) }
      }).pipe(Effect.provide([TestClock.layer(), log]))
    })
  )
  t.strictSame(seen, { early: all, left: [nothing, nothing, nothing] })
})

t.test("given campaigns, when they are listed, then each still has its list", async (t) => {
  const missing = await run(
    Effect.gen(function* () {
      const campaigns = yield* Campaigns.use((_) => _.list(ours))
      const found = yield* Effect.forEach(campaigns, ({ sourceId }) => what(sourceId))
      return [campaigns.length > 0, found.filter(({ file, row }) => !file || !row)]
    })
  )
  t.strictSame(missing, [true, []])
})
