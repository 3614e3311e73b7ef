/**
 * A campaign through a hosted carrier: the engine places calls over the carrier's REST API, and gets reports at the addresses that it gave to
 * the carrier. Judged by the log of the carrier's callees.
 */
import { request } from "node:http"
import t, { type Test } from "tap"
import { encodeFrames } from "#core/audio/Mulaw.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { attemptsOf, placedBy, contactStates, numbersOf, untilTrue, type World } from "#test/support/engine.ts"
import { type Carrier, carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { phoneWav } from "#test/support/wav.ts"

// Most of the time is spent waiting for calls.
t.jobs = 3

const far = { ringMillis: 100, talkMillis: 400 }

const open = async (
  t: Test,
  carrier: Pick<Carrier, "account" | "log" | "provider" | "server">,
  greeting = "",
  environment: Readonly<Record<string, string>> = {}
) => {
  const world = await openThrough(t, carrier, { environment, greeting })
  return { dials: dialsFrom(carrier), world }
}

/** Returns the dials from now on. */
const dialsFrom = ({ log }: Pick<Carrier, "log">) => {
  const earlier = log.entries.length
  return () => log.entries.slice(earlier).filter(({ kind }) => kind === "originate")
}

/** Stories that follow each other on the same engine. */
type Story = (t: Test, name: string, carrier: Carrier, world: World) => Promise<void>

const results: Story = async (t, name, carrier, world) => {
  const dials = dialsFrom(carrier)
  const { id } = await world.campaign(numbersOf(30, ["01", "02", "08"]), { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: 10, failed: 20 }, "then each contact has the result that its callee gave")
  t.equal(new Set(dials().map(({ number }) => number)).size, 30)
  t.equal(dials().length, 30, "then everybody was called once")
  const outcomes = Object.groupBy(await placedBy(world.sql, id), ({ outcome, phoneNumber }) => `${phoneNumber.slice(-2)} ${outcome}`)
  t.strictSame(Object.keys(outcomes).toSorted(), ["01 answered", "02 busy", "08 failed"])
  t.equal(carrier.log.live(), 0)
  const [{ named } = { named: 0 }] = await world.sql<Array<{ named: number }>>`
    SELECT count(provider_call_id)::int AS named FROM attempts WHERE campaign_id = ${id}`
  t.equal(named, 30, `then each attempt knows what ${name} calls it`)
}

const strayCallbacks: Story = async (t, _name, carrier, world) => {
  const dials = dialsFrom(carrier)
  carrier.callbacks.copies = 2
  carrier.callbacks.delayMillis = 300
  const { id } = await world.campaign(numbersOf(12, ["01", "02", "06"]), { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  carrier.callbacks.copies = 1
  carrier.callbacks.delayMillis = 0
  t.strictSame(await contactStates(world.sql, id), { completed: 8, failed: 4 }, "then everybody who talked counts as reached")
  t.equal(dials().length, 12)
}

const death: Story = async (t, _name, carrier, world) => {
  const dials = dialsFrom(carrier)
  const answered = carrier.log.count("answered")
  const { id } = await world.campaign(numbersOf(20, ["01"]), { max_concurrency: 5, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("calls", () => carrier.log.count("answered") >= answered + 5)
  await world.end("SIGKILL")
  await world.launch()
  await world.api.untilState(id, "completed")
  t.equal(dials().length, new Set(dials().map(({ number }) => number)).size, "then nobody was called twice")
  t.equal(carrier.log.live(), 0, "then no call is still up")
  const attempts = await attemptsOf(world.sql, id)
  t.strictSame(
    attempts.filter(({ state }) => state !== "ended" && state !== "void"),
    [],
    "then every attempt has ended"
  )
  const called = new Set(dials().map(({ number }) => number))
  const uncalled = (await placedBy(world.sql, id)).filter(({ phoneNumber }) => !called.has(phoneNumber))
  // A kill between the journal's line and the first byte of the request leaves one contact in doubt.
  t.ok(uncalled.length <= 1 && uncalled.every(({ outcome }) => outcome === "unknown"), "then at most one contact is in doubt")
  t.equal(called.size + uncalled.length, 20, "then nobody was forgotten")
}

for (const [name, start] of Object.entries(carriers)) {
  t.test(`given ${name}`, { buffered: true }, async (t) => {
    const carrier = await start(t, far)
    const { world } = await open(t, carrier)
    const tell = (title: string, story: Story) => t.test(title, (t) => story(t, name, carrier, world))
    await tell("and a campaign whose callees answer, are busy, and do not exist", results)
    await tell("and callbacks that are repeated, late, and in any order", strayCallbacks)
    await tell("and an engine that is killed in mid-campaign", death)
  })
}

t.test(
  "given callees who hung up before their answers are reported, when the engine is killed as it hears of them",
  { buffered: true },
  async (t) => {
    const carrier = await carriers["Telnyx"]?.(t, { ringMillis: 100, talkMillis: 3000 })
    if (carrier === undefined) throw new Error("no carrier")
    const { callbacks, log } = carrier
    const { dials, world } = await open(t, carrier, "Good morning.")
    const numbers = numbersOf(40, ["01"])
    const { id } = await world.campaign(numbers, { max_concurrency: 40, retry: { maxRetries: 0 } })
    callbacks.hold()
    await world.api.start(id)
    await untilTrue("ends", () => log.count("ended") === numbers.length && log.audioEnds.size > numbers.length / 2)
    const told = dials().filter(({ channelId }) => log.audioEnds.has(channelId))
    callbacks.release()
    await untilTrue("answer", () => callbacks.deliveries.some(({ body, status }) => status === 200 && body.includes("call.answered")))
    await world.end("SIGKILL")
    await world.launch()
    await world.api.untilState(id, "completed")
    const attempts = await placedBy(world.sql, id)
    const toldNumbers = new Set(told.map(({ number }) => number))
    t.strictSame(
      attempts.filter(({ outcome, phoneNumber }) => toldNumbers.has(phoneNumber) && outcome !== "answered"),
      [],
      "then no callee whose audio had ended counts as abandoned"
    )
  }
)

t.test("given an address that we did not make, or a webhook that Telnyx did not sign", { buffered: true }, async (t) => {
  const telnyx = await startTelnyxEmulator(far)
  t.teardown(() => telnyx.stop())
  const { apiKey, connectionId, log, publicKey, server } = telnyx
  const account = { api_key: apiKey, connection_id: connectionId, webhook_public_key: publicKey }
  const { world } = await open(t, { provider: "telnyx", account, log, server })
  const { id } = await world.campaign(numbersOf(1, ["11"]), { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("call that is up", async () => (await attemptsOf(world.sql, id))[0]?.state === "answered")
  const address = String(Reflect.get(JSON.parse(telnyx.dials()[0]?.body ?? "{}"), "webhook_url"))
  const body = JSON.stringify({ data: { event_type: "call.hangup", id: "forged", payload: { hangup_cause: "normal_clearing" } } })
  // Not with `fetch`, which in tests allows documented requests only.
  const post = (url: string, headers: Readonly<Record<string, string>>) =>
    new Promise((resolve, reject) => {
      const asked = request(url, { method: "POST", headers: { "content-type": "application/json", ...headers } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on("error", reject).end(body)
    })
  t.equal(await post(address, {}), 403, "when it is not signed, then it is refused")
  const otherCall = address.replace(/[0-9a-f-]{36}/, "00000000-0000-4000-8000-000000000001")
  t.equal(
    await post(otherCall, telnyx.signature(body)),
    403,
    "when the address was changed, then it is refused, even with a valid signature"
  )
  t.equal(await post(address, telnyx.signature(body)), 200, "when it is signed and names no call, then it is taken")
  t.equal((await attemptsOf(world.sql, id))[0]?.state, "answered", "then the call goes on")
})

/** Mu-law has two codes for zero. A carrier that sends linear samples preserves only one of them. */
const withOneZero = (codes: Uint8Array) => Buffer.from(codes.map((code) => (code === 0x7f ? 0xff : code)))

/** Half a second of sound that resembles nothing else. */
const sound = Int16Array.from({ length: 160 * 25 }, (_, at) => 9000 * Math.sin(at * at * 0.001))

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

/** The highest level of a channel of a 16-bit stereo WAV. */
const peakOf = (wav: Buffer, channel: 0 | 1): number => {
  let peak = 0
  for (let at = 44 + 2 * channel; at + 2 <= wav.length; at += 4) peak = Math.max(peak, Math.abs(wav.readInt16LE(at)))
  return peak
}

/** Calls four callees who never hang up. Returns the campaign, and how many of them did not hear all of the sound. */
const callWithSound = async (carrier: Carrier, world: World, seconds: number) => {
  const dials = dialsFrom(carrier)
  await openWith(world, sound, seconds)
  const { id } = await world.campaign(numbersOf(4, ["11"]), { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  const greeting = withOneZero(encodeFrames(sound))
  return { id, deaf: dials().filter(({ channelId }) => !withOneZero(carrier.log.heard(channelId)).includes(greeting)).length }
}

const recordings: Story = async (t, _name, carrier, world) => {
  const first = await callWithSound(carrier, world, 6)
  // A busy machine may need longer to begin to speak, or to play it all.
  const { deaf, id } = first.deaf === 0 ? first : await callWithSound(carrier, world, 90)
  t.strictSame(await contactStates(world.sql, id), { completed: 4 })
  t.equal(deaf, 0, "then each callee heard all of it")
  const runs = await world.api.runs(id)
  t.equal(runs.length, 4)
  for (const run of runs) {
    const wav = Buffer.from(await (await fetch(run.recording_public_url ?? "")).arrayBuffer())
    t.ok(peakOf(wav, 0) > 2000 && peakOf(wav, 1) > 2000, "then both are in its recording")
  }
}

const lateEnds: Story = async (t, _name, carrier, world) => {
  carrier.endLate(4000)
  world.agentId = (await world.api.createAgent("Good morning to you.")).id
  const { id } = await world.campaign(numbersOf(6, ["01"]), {
    circuit_breaker: { enabled: true, min_calls_in_window: 2 },
    retry: { maxRetries: 0 }
  })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: 6 }, "then nobody counts as failed")
  t.strictSame([...new Set((await placedBy(world.sql, id)).map(({ outcome }) => outcome))], ["answered"])
}

for (const [name, start] of Object.entries(carriers)) {
  t.test(`given ${name}, and calls with audio`, { buffered: true }, async (t) => {
    const carrier = await start(t, far)
    const { world } = await open(t, carrier, "Good morning.", { RECORDINGS: "on" })
    const tell = (title: string, story: Story) => t.test(title, (t) => story(t, name, carrier, world))
    await tell("and an agent that opens with a recording and records", recordings)
    await tell("and streams that end seconds before the call is reported over", lateEnds)
  })
}
