/** An engine that stores its files in a bucket: a campaign with recordings, a kill during calls while the bucket is away, and retention. */
import { readdirSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { S3Emulator } from "#test/emulators/s3/S3Emulator.ts"
import { numbersOf, type Run, until, untilTrue, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"

const header = 44

t.test("given an engine that keeps its files in a bucket", async (t) => {
  const bucket = await S3Emulator.start()
  t.teardown(bucket.stop)
  const world = await World.open(t, {
    configurations: { max_call_duration: 600 },
    emulator: { ringMillis: 100, talkMillis: 2500, talkOnceHeard: true },
    environment: { ...bucket.environment(), DRAIN: "1" }
  })
  const { emulator } = world
  const objectOf = (key: string | null | undefined) => bucket.objects.get(`kept/${key}`)?.bytes
  const filesBelow = (folder: string): ReadonlyArray<string> =>
    readdirSync(join(world.dataDir, "outbox", folder), { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(wav|txt|csv)$/.test(name)
    )
  const linkTo = async (key: string | null | undefined): Promise<string> => {
    const { body } = await world.api.ask("GET", `/s3/signed-url?key=${encodeURIComponent(key ?? "")}`)
    return String((body as { readonly url: string }).url) // the shape of an answer to a request of this test
  }
  const fetched = async (key: string | null | undefined) => {
    const response = await fetch(await linkTo(key))
    return { status: response.status, retryAfter: response.headers.get("retry-after"), bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const waiting = async () => Number(/^\S*files_waiting (\d+)$/m.exec(await (await fetch(`${world.engine.url}/metrics`)).text())?.[1])
  const seconds = ({ length }: Buffer) => (length - header) / 32_000
  const runsOf = async (id: number): Promise<ReadonlyArray<Run>> => await world.api.runs(id)

  const numbers = numbersOf(3, ["01"])
  const first = await world.campaign(numbers)
  await world.api.start(first.id)
  await world.api.untilState(first.id, "completed")
  await untilTrue("files in the bucket", async () => (await waiting()) === 0)

  t.test("when a campaign is over, then its list, recordings and transcripts are in the bucket, and not on this machine", async (t) => {
    const runs = await runsOf(first.id)
    t.equal(runs.length, 3)
    for (const run of runs) {
      const wav = objectOf(run.recording_url)
      t.ok(wav && seconds(wav) > 1, `a recording of ${wav && seconds(wav)} s`)
      t.match(objectOf(run.transcript_url)?.toString(), /assistant: /)
    }
    t.ok([...bucket.objects.keys()].some((key) => /^kept\/campaigns\/\d+\/.*list\.csv$/.test(key)))
    t.strictSame([filesBelow("waiting"), filesBelow("growing")], [[], []])
  })

  t.test("when it is killed during calls while the bucket is away, then nothing is missing in the end", async (t) => {
    const [before] = await runsOf(first.id)
    const list = await world.api.upload("phone_number\n+15550000001\n")
    await untilTrue("list in the bucket", () => objectOf(list) !== undefined)
    emulator.letTalk(true)
    const second = await world.campaign(numbersOf(3, ["01"], "+1666"))
    await world.api.start(second.id)
    await world.seen("answered", 6)
    const growing = join(world.dataDir, "outbox", "growing")
    await untilTrue("three recordings of a second", async () => {
      const sizes = await Promise.all(filesBelow("growing").map(async (name) => (await stat(join(growing, name))).size))
      return sizes.filter((size) => size > header + 32_000).length === 3
    })
    await bucket.goAway()

    const gone = await fetched(before?.recording_url)
    t.strictSame([gone.status, gone.retryAfter], [503, "5"], "then what is in the bucket has to wait")
    const late = { name: "Late", workflow_id: world.agentId, source_type: "csv", source_id: list }
    t.equal((await world.api.ask("POST", "/campaign/create", late)).status, 503, "as do campaigns of lists there")
    t.equal((await world.api.ask("GET", `/s3/file-metadata?key=${list}`)).status, 503)
    const [number = ""] = numbersOf(3, ["01"], "+1666")
    emulator.hangUp(number)
    const over = await until("end of a call", async () => (await runsOf(second.id)).find(({ is_completed }) => is_completed))
    t.ok(seconds((await fetched(over.recording_url)).bytes) > 1, "and what is not there yet is read here")
    t.ok((await waiting()) >= 1)
    await wrote(world, /bucket of files cannot be used.*127\.0\.0\.1/s)

    await world.end("SIGKILL")
    await world.launch()
    emulator.letTalk(false)
    await world.api.untilState(second.id, "completed")
    const runs = await runsOf(second.id)
    t.equal(runs.length, 3)
    const recordings = await Promise.all(runs.map(async (run) => (await fetched(run.recording_url)).bytes))
    for (const wav of recordings)
      t.ok(seconds(wav) > 1 && wav.readUInt32LE(40) === wav.length - header, `a whole recording of ${seconds(wav)} s`)
    t.equal(await waiting(), filesBelow("waiting").length)

    await bucket.comeBack()
    await untilTrue("files in the bucket", async () => (await waiting()) === 0)
    for (const [index, run] of runs.entries()) t.strictSame(objectOf(run.recording_url), recordings[index])
    t.strictSame([filesBelow("waiting"), filesBelow("growing")], [[], []])
    t.equal((await fetched(before?.recording_url)).status, 200)
    t.notMatch(world.output(), bucket.keys.secretAccessKey)
    t.notMatch(world.output(), bucket.keys.accessKeyId)
  })

  t.test("when it is stopped during calls, then their recordings are in the bucket before it ends", async (t) => {
    emulator.letTalk(true)
    const third = await world.campaign(numbersOf(2, ["01"], "+1777"))
    await world.api.start(third.id)
    await world.seen("answered", 8)
    await untilTrue("two recordings", () => filesBelow("growing").length === 2)
    t.equal((await world.end("SIGTERM")).code, 0)
    emulator.letTalk(false)
    t.strictSame([filesBelow("waiting"), filesBelow("growing")], [[], []])
    const keys = await world.sql<Array<{ key: string | null }>>`SELECT recording_key AS key FROM runs WHERE campaign_id = ${third.id}`
    t.equal(keys.filter(({ key }) => objectOf(key) !== undefined).length, 2)
    await world.launch()
    await world.api.untilState(third.id, "completed")
  })

  t.test("when recordings become Opus, then the bucket has that, and no longer the call's WAV", async (t) => {
    await world.end()
    await world.launch({ RECORDING_FORMAT: "opus" })
    const fourth = await world.campaign(numbersOf(1, ["01"], "+1888"))
    await world.api.start(fourth.id)
    await world.api.untilState(fourth.id, "completed")
    const run = await until("compressed recording", async () =>
      (await runsOf(fourth.id)).find((one) => one.recording_url?.endsWith(".opus"))
    )
    await untilTrue("one object", () => {
      const stored = [...bucket.objects.keys()].filter((key) => key.startsWith(`kept/recordings/${run.id}-`))
      return stored.length === 1 && stored[0] === `kept/${run.recording_url}`
    })
    t.equal(objectOf(run.recording_url)?.toString("latin1", 0, 4), "OggS")
  })
})
