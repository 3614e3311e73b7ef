/** Recordings converted to Opus after their calls: access and deletion work before, meanwhile and after, and nothing is left over. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import * as storedFiles from "#core/file/StoredFiles.ts"
import { DefaultRecordingFormat, type RecordingFormat } from "#core/file/RecordingFormat.ts"
import { Config } from "#runtime/config/config.ts"
import { keepHouse } from "#runtime/Housekeeping.ts"
import { Files } from "#runtime/storage/Files.ts"
import * as RecordingCompression from "#runtime/voice/RecordingCompression.ts"
import { compressRecording } from "#runtime/voice/opusRecording.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"
import { heardOpus } from "#test/support/oggOpus.ts"
import { untilTrue } from "#test/support/until.ts"
import { tone, wavOf } from "#test/support/wav.ts"

const api = await openApi(t)
const { ask, database, filesThere, folder } = api
const ours = api.organizationId
const stores = Layer.mergeAll(Files.layerLocal(folder), Layer.orDie(Config.layerOf({})))

/** Three seconds of a tone on the callee's side. */
const sound = wavOf(
  { tag: 1, bits: 16, channels: 2, rate: 8000 },
  Buffer.from(Int16Array.from([...tone(3)].flatMap((sample) => [sample, 0])).buffer)
)

interface Call {
  readonly id: number
  readonly agentId: number
  readonly wav: string
  readonly opus: string
}
/** An ended call, with its recording. */
const call = async (bytes: Uint8Array = sound, daysAgo = 0): Promise<Call> => {
  const { id: agentId } = await api.makeAgent()
  const id = await api.makeRun(agentId, { is_completed: true, created_at: new Date(Date.now() - daysAgo * 86_400_000) })
  const name = `recordings/${id}-${"s".repeat(22)}`
  await api.sql`UPDATE runs SET recording_key = ${`${name}.wav`} WHERE id = ${id}`
  await api.writeFile(`${name}.wav`, "")
  await writeFile(join(folder, `${name}.wav`), bytes)
  return { id, agentId, wav: `${name}.wav`, opus: `${name}.opus` }
}
/** Reports its size to the quota, as happens after every call. */
const count = ({ wav }: Call, format: RecordingFormat = "wav") =>
  database.run(
    SqlClient.SqlClient.use((sql) => storedFiles.add(sql, [{ organizationId: ours, key: wav, bytes: sound.length }])).pipe(
      Effect.provideService(DefaultRecordingFormat, format)
    )
  )
const files = ({ id }: Call) => filesThere().filter((name) => name.includes(`/${id}-`))
const used = async () => Number(bodyOf(await ask("GET", "/organizations/quotas"))["storage_bytes"]?.["used"])
const isMarked = async ({ wav }: Call) => (await api.sql`SELECT 1 FROM stored_files WHERE key = ${wav} AND to_compress`).length > 0
const shown = async ({ agentId, id }: Call) => bodyOf(await ask("GET", `/workflow/${agentId}/runs/${id}`))
const change = (settings: object) => ask("PUT", "/organizations/settings", { concurrency_limit: 10, concurrency_reserve: 0, ...settings })
const set = (recording_format: RecordingFormat) => change({ recording_format })
/** Runs the engine's part until nothing is left to do. */
const compress = () =>
  database.run(
    Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(RecordingCompression.layer)
        const sql = yield* SqlClient.SqlClient
        const marked = () => Effect.runPromise(Effect.orDie(sql`SELECT 1 FROM stored_files WHERE to_compress`))
        yield* Effect.promise(() => untilTrue("nothing to compress", async () => (await marked()).length === 0))
      }).pipe(Effect.provide(stores))
    )
  )
const house = () => database.run(Effect.scoped(keepHouse.pipe(Effect.provide(stores))))
const seconds = async (bytes: Uint8Array) => (await heardOpus(bytes)).samples / 8000

t.test("given no setting, then recordings stay WAV, unless the operator wants Opus", async (t) => {
  t.match(await ask("GET", "/organizations/settings"), { json: { recording_format: null } })
  const [plain, byOperator] = [await call(), await call()]
  await count(plain)
  await count(byOperator, "opus")
  t.strictSame([await isMarked(plain), await isMarked(byOperator)], [false, true])
  await compress()
  t.strictSame([files(plain), files(byOperator)], [[plain.wav], [byOperator.opus]])
  t.equal((await change({ recording_format: "mp3" })).status, 422)
})

t.test("given an organization that wants Opus", async (t) => {
  const before = await call()
  await count(before)
  t.match(await set("opus"), { status: 200, json: { recording_format: "opus" } })
  t.match(await change({}), { json: { recording_format: "opus" } })
  const run = await call()
  const free = await used()
  await count(run)
  const signed = bodyOf(await ask("GET", `/s3/signed-url?key=${run.wav}`))
  const page = await shown(run)
  t.equal((await fetch(String(signed["url"]))).headers.get("content-type"), "audio/wav", "the WAV is there until it is compressed")
  await compress()

  t.test("then the run names the Opus, and the WAV is gone, with its bytes in the quota", async (t) => {
    t.strictSame(files(run), [run.opus])
    const { size } = await stat(join(folder, run.opus))
    t.equal(await used(), free + size)
    t.match(await shown(run), { recording_url: run.opus, recording_public_url: String })
  })
  t.test("then it is downloaded under its name and kind, whole and in part", async (t) => {
    const path = `/workflow/${run.agentId}/runs/${run.id}/recording`
    const url = `http://127.0.0.1:${api.port}/api/v1${path}`
    const headers = { "x-api-key": "dgr_ours_0000000000" }
    const whole = await fetch(url, { headers })
    t.strictSame(
      [whole.status, whole.headers.get("content-type"), whole.headers.get("content-disposition")],
      [200, "audio/ogg", `attachment; filename="${run.opus.split("/")[1]}"`]
    )
    const bytes = new Uint8Array(await whole.arrayBuffer())
    t.equal(bytes.length, (await stat(join(folder, run.opus))).size)
    t.ok(Math.abs((await seconds(bytes)) - 3) < 0.02)
    const part = await fetch(url, { headers: { ...headers, range: "bytes=4-9" } })
    t.strictSame([part.status, Buffer.from(await part.arrayBuffer())], [206, Buffer.from(bytes.subarray(4, 10))])
  })
  t.test("then addresses that were given out before still lead to it", async (t) => {
    for (const address of [String(signed["url"]), String(page["recording_public_url"])]) {
      const { headers, status } = await fetch(address)
      t.strictSame([status, headers.get("content-type")], [200, "audio/ogg"])
    }
    t.match(await ask("GET", `/s3/file-metadata?key=${run.wav}`), { json: { key: run.wav, metadata: { content_type: "audio/ogg" } } })
    t.equal((await ask("GET", `/s3/signed-url?key=${run.opus}`)).status, 200)
    t.equal((await api.askAsOther("GET", `/s3/signed-url?key=${run.opus}`)).status, 403)
  })
  t.test("then earlier recordings stay as they are", async (t) => {
    t.strictSame(files(before), [before.wav])
  })
  t.test("when it wants WAV again, whatever the operator does, then later ones stay WAV", async (t) => {
    await set("wav")
    const later = await call()
    await count(later, "opus")
    t.equal(await isMarked(later), false)
    await set("opus")
  })
})

t.test("given a process that was killed", async (t) => {
  await set("opus")
  const check = (what: string, left: (run: Call) => Promise<unknown>) =>
    t.test(`when it had ${what}, then the next one finishes it`, async (t) => {
      const run = await call()
      const free = await used()
      await count(run)
      await left(run)
      await house()
      await compress()
      t.strictSame(files(run), [run.opus])
      t.ok(Math.abs((await seconds(await readFile(join(folder, run.opus)))) - 3) < 0.02)
      t.equal(await used(), free + (await stat(join(folder, run.opus))).size)
      t.match(await shown(run), { recording_url: run.opus })
      const drafts = filesThere().filter((name) => name.startsWith("drafts/"))
      t.strictSame(drafts, [])
    })
  await check("written a part", () => api.writeFile("drafts/node1.opus", "OggS, and then"))
  await check("written all, but not told the run", (run) => api.writeFile(run.opus, "another"))
  await check("told the run, but not removed the WAV", async (run) => {
    const size = (await compressRecording(join(folder, run.wav), join(folder, run.opus))) ?? 0
    await api.sql`UPDATE runs SET recording_key = ${run.opus} WHERE id = ${run.id}`
    await api.sql`INSERT INTO stored_files (key, organization_id, bytes) VALUES (${run.opus}, ${ours}, ${size})`
  })
})
t.test("given a recording that is being compressed, when it is deleted, then nothing of it is left under either name", async (t) => {
  await set("opus")
  const run = await call()
  const free = await used()
  await count(run)
  await api.writeFile(run.opus, "of a process that was killed")
  t.equal((await ask("DELETE", `/workflow/${run.agentId}/runs/${run.id}/artifacts`)).status, 200)
  t.strictSame(files(run), [])
  // The process that was compressing it still writes its file.
  await api.writeFile(run.opus, "sound")
  await house()
  await compress()
  t.strictSame(files(run), [])
  t.equal(await used(), free)
})

t.test("given recordings kept for a day, when it is over, then those of both formats are gone, and half-converted ones too", async (t) => {
  const [compressed, marked] = [await call(sound, 9), await call(sound, 8)]
  await count(compressed)
  await compress()
  await count(marked)
  await api.writeFile(marked.opus, "of a process that was killed")
  await change({ recordings_days: 1 })
  await house()
  t.strictSame([files(compressed), files(marked)], [[], []])
  await compress()
  t.equal(existsSync(join(folder, marked.wav)), false)
})

t.test("given a file that is not a recording, then it stays, and is not looked at again", async (t) => {
  const run = await call(Buffer.from("something else"))
  await count(run)
  await compress()
  t.strictSame([files(run), await isMarked(run)], [[run.wav], false])
})
