/** A real engine that stores its recordings as Opus, and is killed while it compresses one. */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { until, untilTrue, World } from "#test/support/engine.ts"
import { heardOpus } from "#test/support/oggOpus.ts"
import { tone, wavOf } from "#test/support/wav.ts"

const minutes = 2
/** Compression runs at the lowest priority: when two dozen processes keep the machine busy, a second of work takes many minutes. */
const patienceMillis = 1_500_000

t.setTimeout(1_800_000)
const long = wavOf(
  { tag: 1, bits: 16, channels: 2, rate: 8000 },
  Buffer.concat(Array(minutes * 60).fill(Buffer.from(Int16Array.from([...tone(1)].flatMap((sample) => [sample, -sample / 2])).buffer)))
)
const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

t.test("given an engine that stores Opus", async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 100, talkMillis: 3000 },
    environment: { RECORDING_FORMAT: "opus" }
  })
  const path = (key: string) => join(world.dataDir, "files", key)
  t.equal((await world.api.call(world.agentUuid, "+15550000001")).status, 200)
  const kept = await until(
    "compressed recording",
    async () => {
      const [row] = await world.sql<Array<{ id: number; key: string | null; seconds: number }>>`
      SELECT id, recording_key AS key, (usage_info->>'call_duration_seconds')::float8 AS seconds FROM runs WHERE is_completed`
      return row?.key?.endsWith(".opus") ? { ...row, key: row.key } : undefined
    },
    patienceMillis
  )

  t.test("when a call is over, then its recording is Opus, as long as the call", async (t) => {
    const { channels, errors, samples } = await heardOpus(await readFile(path(kept.key)))
    t.strictSame([channels, errors], [2, []])
    t.ok(Math.abs(samples / 8000 - kept.seconds) < 1, `${samples / 8000} of ${kept.seconds} s`)
  })

  t.test("when it is killed while it compresses, then the WAV is intact, and the next engine compresses it", async (t) => {
    const wav = kept.key.replace(".opus", ".wav")
    await writeFile(path(wav), long)
    await rm(path(kept.key))
    await world.sql.begin(async (sql) => {
      await sql`UPDATE runs SET recording_key = ${wav} WHERE id = ${kept.id}`
      await sql`DELETE FROM stored_files WHERE key = ${kept.key}`
      await sql`INSERT INTO stored_files (key, organization_id, bytes, to_compress) SELECT ${wav}, organization_id, ${long.length}, true FROM runs WHERE id = ${kept.id}`
    })
    const draft = path("drafts/journey.opus")
    await untilTrue("half a draft", async () => existsSync(draft) && (await stat(draft)).size > 10_000, patienceMillis)
    await world.end("SIGKILL")
    t.equal(hash(await readFile(path(wav))), hash(long))
    t.equal(existsSync(path(kept.key)), false, "what is half made has no name that anybody knows")
    t.match(await world.sql`SELECT recording_key AS key FROM runs`, [{ key: wav }])

    await world.launch()
    await untilTrue("compressed recording", () => !existsSync(path(wav)), patienceMillis)
    t.match(await world.sql`SELECT recording_key AS key FROM runs`, [{ key: kept.key }])
    const { errors, samples } = await heardOpus(await readFile(path(kept.key)))
    t.strictSame(errors, [])
    t.equal(Math.round(samples), minutes * 60 * 8000)
    t.ok((await stat(path(kept.key))).size < long.length / 9)
    t.equal(existsSync(draft), false)
  })
})
