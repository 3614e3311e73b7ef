/**
 * Bytes of files that are kept. Before, an organization could fill the disk, on which the recordings of all others lie too. Calls are never
 * prevented by it: without room a call is made but not recorded, and says so.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { countFiles } from "#runtime/storage/countedFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import * as Storage from "#runtime/storage/StorageRoom.ts"
import { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { until } from "#test/support/until.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { noVerbs } from "#runtime/voice/VoiceSession.ts"
import { reportOf } from "#test/support/talkScene.ts"
import { callingWith, eventsOf, loopback, planOfCall } from "#test/support/voiceScene.ts"
import { full, quotasOf, times } from "./quotas.ts"

const api = await openApi(t)
const id = api.organizationId
const quotas = await quotasOf(api)
const { set } = quotas
const used = () => quotas.used("storage_bytes")
const room = (limit: number, used: number, wanted: number) => full("storage_bytes", limit, used, wanted)
const query = <A>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  api.database.run(Effect.orDie(Effect.flatMap(SqlClient.SqlClient, statement)))
const list = `phone_number,first_name\n+15550100001,${"A".repeat(63)}\n`
const bytes = list.length
const address = () => api.ask("POST", "/s3/presigned-upload-url", { file_name: "l.csv", file_size: bytes })
const put = async (ticket: Awaited<ReturnType<typeof address>>, body = list) => {
  const sent = await fetch(String(bodyOf(ticket)["upload_url"]), { method: "PUT", body, headers: { "content-type": "text/csv" } })
  return [sent.status, await sent.json()]
}

t.test("given room for two lists and a half", async (t) => {
  await set({ storage_bytes: bytes * 2 + 50 })

  t.test("when eight are uploaded at once, then two are kept, and nothing of the others", async (t) => {
    const tickets = await Promise.all(times(8, address))
    const answers = await Promise.all(tickets.map((ticket) => put(ticket)))
    t.strictSame(answers.map(([status]) => status).sort(), [200, 200, 409, 409, 409, 409, 409, 409])
    t.strictSame(answers.find(([status]) => status === 409)?.[1], room(bytes * 2 + 50, bytes * 2, bytes))
    t.equal(await used(), bytes * 2)
    t.equal(api.filesThere().length, 2)
  })

  t.test("when the same bytes come again, then they are not counted again", async (t) => {
    await set({ storage_bytes: bytes * 3 })
    const ticket = await address()
    t.strictSame([(await put(ticket))[0], (await put(ticket))[0]], [200, 200])
    t.equal(await used(), bytes * 3)
  })

  t.test("when there is no room at all, then not even an upload address is given", async (t) => {
    const refused = [409, room(bytes * 3, bytes * 3, 1)]
    t.strictSame([(await address()).status, (await address()).json], refused)
    const recording = await api.ask("POST", "/workflow-recordings/upload-url", { filename: "a.wav" })
    t.strictSame([recording.status, recording.json], refused)
    const document = await api.ask("POST", "/knowledge-base/upload-url", { filename: "a.pdf", mime_type: "application/pdf" })
    t.strictSame([document.status, document.json], refused)
    await set({ storage_bytes: null })
  })
})

t.test("given a recording that agents play, when it is deleted, then its room is free, but not before", async (t) => {
  const before = await used()
  const ticket = await api.ask("POST", "/workflow-recordings/upload-url", { filename: "a.wav" })
  const { recording_id, storage_key } = bodyOf(ticket)
  t.equal((await put(ticket))[0], 200)
  t.match(await api.ask("POST", "/workflow-recordings/", { recording_id, storage_key, transcript: "x" }), { status: 200 })
  t.equal(await used(), before + bytes)
  t.equal((await api.ask("DELETE", `/workflow-recordings/${recording_id}`)).status, 200)
  t.equal(await used(), before)
})

t.test("given files that were never counted, when the housekeeping runs, then they are, and deleting them frees their room", async (t) => {
  const agent = await api.makeAgent()
  const before = await used()
  await api.writeFile("recordings/1-abc.wav", "x".repeat(500))
  const run = await api.makeRun(agent.id, { is_completed: true, recording_key: "recordings/1-abc.wav" })
  const counted = () => query((sql) => Files.use((files) => countFiles(sql, files)).pipe(Effect.provide(Files.layerLocal(api.folder))))
  t.equal(await counted(), 1)
  t.equal(await used(), before + 500)
  t.equal((await api.ask("DELETE", `/workflow/${agent.id}/runs/${run}/artifacts`)).status, 200)
  t.equal(await used(), before)

  await api.sql`INSERT INTO stored_files (key, organization_id, bytes) VALUES (${`recordings/${run}-abc.wav`}, ${id}, 70)`
  t.equal(await used(), before + 70)
  await counted()
  t.equal(await used(), before, "what no run names is not kept")
})

t.test("given an organization that has filled its storage", async (t) => {
  const folder = temporaryFolder(t)

  t.test("when a call ends and its files are counted, then calls are no longer recorded, and only its own events say so", async (t) => {
    await set({ storage_bytes: (await used()) + 1000 })
    const seen = await query((sql) =>
      Effect.gen(function* () {
        const room = yield* StorageRoom
        const before = room.isFull(id)
        // An engine does not report what is already full at its start, so only the second time is reported.
        for (const time of [1, 2]) {
          room.kept({ organizationId: id, key: `recordings/9-${time}.wav`, bytes: 4000 })
          yield* Effect.promise(() => until("a full storage", () => (room.isFull(id) ? true : undefined)))
          const more = (yield* Effect.promise(used)) + 1000
          yield* Effect.promise(() => set({ storage_bytes: more }))
          yield* Effect.promise(() => until("room again", () => (room.isFull(id) ? undefined : true)))
        }
        return before
      }).pipe(Effect.provide(Storage.layer), Effect.scoped, Effect.provideService(SqlClient.SqlClient, sql))
    )
    t.equal(seen, false)
    const told = await until("the event", async () => {
      const { events } = bodyOf(await api.ask("GET", "/events?types=storage.full")) as unknown as {
        readonly events: ReadonlyArray<unknown>
      } // As documented.
      return events.length > 0 ? events : undefined
    })
    t.match(told[0], { type: "storage.full", subject: "organization" })
    t.strictSame(bodyOf(await api.askAsOther("GET", "/events?types=storage.full"))["events"], [])
    await set({ storage_bytes: null })
  })

  t.test("when a call is answered, then it is held and transcribed as usual, without a recording, and its run says why", async (t) => {
    const line = loopback()
    const facts: Array<CallFact> = []
    const report = await callingWith(Files.layerLocal(folder))(
      line,
      Effect.gen(function* () {
        const voice = yield* VoiceAgent
        const note = (fact: CallFact) => void facts.push(fact)
        const session = yield* voice.attach(planOfCall(), line.media, eventsOf().emit, { ...noVerbs, note })
        session.dtmf("1", 0)
        line.talk(50, 0.5)
        return yield* session.finish
      }),
      { room: { isFull: () => true, kept: () => undefined } }
    )
    t.equal(report.recordingKey, undefined)
    const { events, transcript } = reportOf(facts)
    t.match(JSON.stringify(events), /The call is not recorded: the organization's storage is full/)
    t.match(transcript, /pressed 1/)
  })
})
