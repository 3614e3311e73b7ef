/**
 * Calls with audio through a hosted carrier: the engine places them over the carrier's REST API, and gets reports and audio at the addresses that it
 * gave to the carrier. Judged by the log of the carrier's callees. `hosted` has campaigns with every kind of trouble.
 */
import t from "tap"
import { encodeFrames } from "#core/audio/Mulaw.ts"
import { placedBy, contactStates, numbersOf, untilTrue, type World } from "#test/support/engine.ts"
import { type Carrier, carriers, openThrough, openThroughEach } from "#test/support/hostedCarriers.ts"
import { sidesOf } from "#test/support/stereo.ts"
import { phoneWav } from "#test/support/wav.ts"

// Most of the time is spent waiting for calls.
t.jobs = 2

/** How many people are called through each carrier. */
const people = 3

const dialsFrom = (earlier: number, { log }: Carrier) => log.entries.slice(earlier).filter(({ kind }) => kind === "originate")

t.test("given callees who hang up before their answers are reported, when the engine is killed then", { buffered: true }, async (t) => {
  const carrier = await carriers["Telnyx"]?.(t, { ringMillis: 100, talkMillis: 3000 })
  if (carrier === undefined) throw new Error("no carrier")
  const { callbacks, log } = carrier
  const world = await openThrough(t, carrier, { greeting: "Good morning." })
  const numbers = numbersOf(20, ["01"])
  const { id } = await world.campaign(numbers, { max_concurrency: 20, retry: { maxRetries: 0 } })
  callbacks.hold()
  await world.api.start(id)
  await untilTrue("ends", () => log.count("ended") === numbers.length && log.audioEnds.size > numbers.length / 2)
  const told = dialsFrom(0, carrier).filter(({ channelId }) => log.audioEnds.has(channelId))
  callbacks.release()
  await untilTrue("answer", () => callbacks.deliveries.some(({ body, status }) => status === 200 && body.includes("call.answered")))
  await world.end("SIGKILL")
  await world.launch()
  await world.api.untilState(id, "completed")
  const attempts = await placedBy(world.sql, id)
  const toldNumbers = new Set(told.map(({ number }) => number))
  const abandoned = attempts.filter(({ outcome, phoneNumber }) => toldNumbers.has(phoneNumber) && outcome !== "answered")
  t.strictSame(abandoned, [], "then no callee whose audio had ended counts as abandoned")
})

/** Mu-law has two codes for zero. A carrier that sends linear samples preserves only one of them. */
const withOneZero = (codes: Uint8Array) => Buffer.from(codes.map((code) => (code === 0x7f ? 0xff : code)))

/** Half a second of sound that resembles nothing else. */
const sound = Int16Array.from({ length: 160 * 25 }, (_, at) => 9000 * Math.sin(at * at * 0.001))
const greeting = withOneZero(encodeFrames(sound))

/** Lets the agent open with a recording of this sound, in calls of at most so many seconds. */
const openWith = async ({ agentId, api }: World, samples: Int16Array, seconds: number) => {
  // The cast holds because this test knows the shape of the answers to its requests.
  const ask = async (method: string, path: string, body?: object) => (await api.ask(method, path, body)).body as Record<string, unknown>
  const { recording_id, storage_key, upload_url } = await ask("POST", "/workflow-recordings/upload-url", { filename: "hello.wav" })
  await fetch(String(upload_url), { method: "PUT", headers: { "content-type": "audio/wav" }, body: new Uint8Array(phoneWav(samples)) })
  await ask("POST", "/workflow-recordings/", { recording_id, storage_key, transcript: "Hello." })
  const start = { name: "Start", prompt: "Greet.", greeting_type: "audio", greeting_recording_id: String(recording_id) }
  const nodes = [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data: start }]
  await ask("PUT", `/workflow/${agentId}`, {
    workflow_definition: { nodes, edges: [] },
    workflow_configurations: { max_call_duration: seconds }
  })
}

const isLoud = (side: Int16Array) => side.some((sample) => Math.abs(sample) > 2000)

t.test("given calls with audio through each carrier", { buffered: true }, async (t) => {
  const { lines, world } = await openThroughEach(t, { ringMillis: 100, talkMillis: 400 }, { environment: { RECORDINGS: "on" } })

  /** Calls some people through each carrier at the same time. Returns the campaigns. */
  const called = async (endings: ReadonlyArray<string>, settings: object = {}) => {
    const ids = lines.map(async (line) => {
      const { id } = await world.campaign(numbersOf(people, endings, line.prefix), { ...line.settings, ...settings })
      await world.api.start(id)
      return { ...line, id, earlier: line.carrier.log.entries.length }
    })
    const campaigns = await Promise.all(ids)
    for (const { id } of campaigns) await world.api.untilState(id, "completed")
    return campaigns
  }
  const isDeaf = ({ carrier, earlier }: { readonly carrier: Carrier; readonly earlier: number }) =>
    dialsFrom(earlier, carrier).some(({ channelId }) => !withOneZero(carrier.log.heard(channelId)).includes(greeting))

  await t.test("and an agent that opens with a recording and records", async (t) => {
    await openWith(world, sound, 6)
    const first = await called(["11"])
    // A busy machine may need longer to begin to speak, or to play it all.
    if (first.some(isDeaf)) await openWith(world, sound, 90)
    for (const campaign of first.some(isDeaf) ? await called(["11"]) : first) {
      const { id, title } = campaign
      t.strictSame(await contactStates(world.sql, id), { completed: people }, title)
      t.notOk(isDeaf(campaign), `${title}: then each callee heard all of it`)
      const named = await world.sql`SELECT FROM attempts WHERE campaign_id = ${id} AND provider_call_id IS NOT NULL`
      t.equal(named.length, people, `then each attempt knows what ${title} calls it`)
      const runs = await world.api.runs(id)
      t.equal(runs.length, people)
      for (const run of runs) {
        const wav = Buffer.from(await (await fetch(run.recording_public_url ?? "")).arrayBuffer())
        t.ok(Object.values(sidesOf(wav)).every(isLoud), `${title}: then both are in its recording`)
      }
    }
  })

  await t.test("and streams that end seconds before the call is reported over", async (t) => {
    for (const { carrier } of lines) carrier.endLate(4000)
    world.agentId = (await world.api.createAgent("Good morning to you.")).id
    for (const { id, title } of await called(["01"], { circuit_breaker: { enabled: true, min_calls_in_window: 2 } })) {
      t.strictSame(await contactStates(world.sql, id), { completed: people }, `${title}: then nobody counts as failed`)
      t.strictSame([...new Set((await placedBy(world.sql, id)).map(({ outcome }) => outcome))], ["answered"], title)
    }
  })
})
