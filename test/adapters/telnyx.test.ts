/**
 * What is specific to calls through Telnyx beyond `telnyxConformance.test.ts`, against the emulator and over real sockets, judged by what the callees saw and by what Telnyx was asked. X1 and so on are
 * the conformance cases of the carrier's reference.
 */
import { Effect } from "effect"
import t from "tap"
import { UNEXPLAINED_MILLIS } from "#core/call/CallPatience.ts"
import type { CallId } from "#core/Id.ts"
import { isDial, isHangup } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { errorOf } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { refTo } from "#test/support/refTo.ts"
import { untilTrue } from "#test/support/until.ts"
import { newCallId, numberOf } from "./Line.ts"
import { type Hosted, OUR_NUMBER } from "./hosted.ts"
import { type Emulator, open, start } from "./telnyxWorld.ts"

const isLive = ({ log }: Emulator, number: string) => {
  const kinds = log.of(number).map(({ kind }) => kind)
  return kinds.includes("originate") && !kinds.includes("ended")
}
const timesDialed = ({ log }: Emulator, number: string) => log.dialsByNumber().get(number) ?? 0
const reaches = (emulator: Emulator, number: string, kind: "ringing" | "answered" | "ended") =>
  untilTrue(kind, () => emulator.log.of(number).some((entry) => entry.kind === kind))
/** The id in a reference to a call that has one. */
const idOf = (hosted: Hosted, callId: CallId) => hosted.ref(callId).providerCallId ?? ""

// --- calls

t.test("X1, X9: a call is placed by one exact request, and its id is escaped in paths", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const to = numberOf("11")
  const { callId, failure } = await hosted.originate(to)
  t.equal(failure, undefined)
  const [dial] = emulator.dials()
  const retries = { retries_ms: [1000, 3000, 8000, 15000, 30000] }
  t.strictSame(JSON.parse(dial?.body ?? ""), {
    connection_id: emulator.connectionId,
    to,
    from: OUR_NUMBER,
    client_state: Buffer.from(callId).toString("base64"),
    command_id: callId,
    timeout_secs: 30,
    time_limit_secs: 630,
    stream_bidirectional_codec: "PCMU",
    stream_bidirectional_mode: "rtp",
    stream_codec: "PCMU",
    stream_track: "inbound_track",
    stream_url: hosted.address("media", callId),
    webhook_url: hosted.address("event", callId),
    webhook_url_method: "POST",
    webhook_retries_policies: { "call.initiated": retries, "call.answered": retries, "call.hangup": retries }
  })
  t.ok(UNEXPLAINED_MILLIS > Math.max(...retries.retries_ms), "an end that only the record reports waits for another attempt of its webhook")
  t.match(dial?.headers, { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" })
  await line.event(callId, "Answered")
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  await line.event(callId, "HungUp")
  const id = idOf(hosted, callId)
  t.match(id, /:/)
  t.equal(emulator.server.requests.find(isHangup)?.path, `/v2/calls/${encodeURIComponent(id)}/actions/hangup`)
  t.equal(emulator.dials().length, 1)
})

t.test("X2, X14: a conversation is reported from beginning to end, in the carrier's time", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const to = numberOf("10")
  const { callId } = await hosted.originate(to)
  t.equal(await line.hungUp(callId), "normal_clearing")
  await emulator.callbacks.settled()
  const story = line.story(callId).filter((word) => word !== "Named")
  // Callbacks may overtake each other.
  const withoutAnswer = story.filter((word) => word !== "Answered")
  t.strictSame(withoutAnswer, ["Placed", "1", "2", "3", "4", "#", "HungUp normal_clearing", "Billed"])
  t.equal(story.length - withoutAnswer.length, 1, "the answer is reported once")
  const timeOf = (tag: string) =>
    line.events(callId).flatMap((event) => (event._tag === tag && "at" in event ? [event.at ?? 0] : []))[0] ?? 0
  t.ok(timeOf("HungUp") - timeOf("Answered") >= 250, "as long as the conversation")
  t.equal(timesDialed(emulator, to), 1)
  t.ok(
    hosted.received.every(({ status }) => status === 200),
    "events that the adapter does not need are accepted"
  )
})

t.test("X7: forged, altered and old webhooks get a 403 and change nothing", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const { callId } = await hosted.originate(numberOf("11"))
  await line.event(callId, "Answered")
  const body = Buffer.from(hosted.received.at(-1)?.callback.body ?? []).toString()
  const post = async (text: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(hosted.address("event", callId), { method: "POST", body: text, headers })).status
  const hungUp = body.replace("call.answered", "call.hangup")
  const stranger = await start(t)
  const before = line.story(callId).length
  t.equal(await post(hungUp, emulator.signature(body)), 403, "altered")
  t.equal(await post(hungUp, stranger.signature(hungUp)), 403, "signed by somebody else")
  t.equal(await post(hungUp, { "content-type": "application/json" }), 403, "unsigned")
  const { "telnyx-timestamp": time = "" } = emulator.signature(hungUp)
  t.equal(await post(hungUp, { ...emulator.signature(hungUp), "telnyx-timestamp": String(Number(time) - 301) }), 403, "old")
  t.equal(line.story(callId).length, before)
  t.equal(await post(body, emulator.signature(body)), 200, "a repeat")
  emulator.telling.underscores = true
  await hosted.hangup(hosted.ref(callId))
  t.equal(await line.hungUp(callId), "normal_clearing", "its event is named with underscores")
})

t.test("an event that could not be accepted is sent again", async (t) => {
  const { emulator, hosted, line } = await open(t)
  hosted.failures = 2
  const { callId } = await hosted.originate(numberOf("11"))
  await line.event(callId, "Answered")
  t.strictSame(
    line.story(callId).filter((word) => word !== "Named"),
    ["Placed", "Answered"]
  )
  t.strictSame(
    hosted.received.map(({ status }) => status),
    [503, 503, 200, 200]
  )
  t.equal(emulator.dials().length, 1)
})

// --- dials that fail

t.test("X10: a refusal is certain, and there was no call", async (t) => {
  const { emulator, hosted } = await open(t, { dials: 7 })
  emulator.dialWindowMillis = Number.POSITIVE_INFINITY
  const refused = async (to: string, more: object = {}) => {
    const { failure } = await hosted.originate(to, more)
    t.equal(timesDialed(emulator, to), 0)
    t.notMatch(JSON.stringify(failure), to.slice(-8))
    return failure
  }
  t.match(await refused("+99914155550111"), { reason: "number_refused", cause: "invalid_number_format" })
  for (const to of ["14155550111", "sip:a@example.com", "+1415555 0111", "+14155550111\n"])
    t.match(await refused(to), { reason: "number_refused", cause: "invalid_number_format" })
  t.match(await refused(numberOf("11"), { from: undefined }), { reason: "misconfigured" })
  t.match(await refused(numberOf("11"), { leave: () => false }), { reason: "permit_lapsed" })
  t.equal(emulator.dials().length, 1, "the others never left")
  const faults: ReadonlyArray<readonly [ReturnType<typeof errorOf> & { headers?: Record<string, string> }, object]> = [
    [errorOf(422, "10016", "/to"), { reason: "number_refused" }],
    [errorOf(422, "10016", "/from"), { reason: "caller_id_refused" }],
    [errorOf(404, "10005"), { reason: "misconfigured" }],
    [
      { ...errorOf(429, "10011"), headers: { "x-ratelimit-reset": "2" } },
      { reason: "rate_limited", retryAfterMillis: 2000 }
    ]
  ]
  for (const [reply, expected] of faults) {
    emulator.server.fail({ acts: false, reply }, isDial)
    t.match(await refused(numberOf("11")), { _tag: "OriginateRefused", ...expected })
  }
  const to = numberOf("11")
  for (let dial = 0; dial < 6; dial++) t.equal((await hosted.originate(numberOf("02"))).failure, undefined)
  t.match(await refused(to), { reason: "rate_limited", retryAfterMillis: 5000 })
  emulator.dialWindowMillis = 0
  t.equal((await hosted.originate(to)).failure, undefined)
  t.equal(timesDialed(emulator, to), 1)
})

t.test("a full account and a revoked key refuse, and the latter takes the trunk down", async (t) => {
  const { emulator, hosted, line } = await open(t, { channels: 1 })
  const { callId } = await hosted.originate(numberOf("11"))
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "rate_limited" })
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  emulator.apiKey = "KEY-of-tomorrow"
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "auth_refused" })
  t.match(await line.status("Down"), { reason: "auth" })
  t.equal(emulator.log.count("originate"), 1)
})

t.test("any other reply means doubt, and nothing is sent a second time", async (t) => {
  const { emulator, hosted } = await open(t)
  const html = "<html><body>Bad gateway</body></html>"
  const replies = [
    { status: 500, body: { errors: [{ code: "10007" }] } },
    { status: 503, body: html, headers: { "retry-after": "7" } },
    { status: 401, body: html },
    { status: 429, body: html },
    { status: 200, body: { errors: [{ code: "10009" }] } },
    { status: 200, body: { data: { call_control_id: 7, is_alive: true } } }
  ] as const
  for (const acts of [true, false]) {
    for (const reply of replies) {
      const to = numberOf("11")
      const before = emulator.server.requests.length
      emulator.server.fail({ acts, reply }, isDial)
      const { failure } = await hosted.originate(to)
      t.match(failure, { _tag: "OriginateDoubtful" }, `${acts} ${JSON.stringify(reply)}`)
      t.notMatch(JSON.stringify(failure), to.slice(-8))
      t.equal(emulator.server.requests.length, before + 1)
      t.equal(timesDialed(emulator, to), acts ? 1 : 0)
    }
  }
})

t.test("given a lost reply and no event, the call is found among the live ones", async (t) => {
  const { emulator, hosted, line } = await open(t, { pageSize: 2 })
  for (let other = 0; other < 5; other++) await hosted.originate(numberOf("11"))
  emulator.callbacks.hold()
  emulator.server.fail({ acts: true, reply: "reset" }, isDial)
  const { callId, to } = await hosted.originate(numberOf("11"))
  await reaches(emulator, to, "answered")
  t.strictSame(line.story(callId), [])
  t.match(await hosted.hangup(hosted.ref(callId)), { _tag: "ProviderError" }, "an unknown id means doubt")
  t.ok(isLive(emulator, to))
  t.equal(await hosted.lookup(hosted.ref(callId)), "up")
  t.strictSame(line.story(callId), ["Named"])
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  t.notOk(isLive(emulator, to))
  t.equal(emulator.dials().length, 6)
})

// --- calls in progress

t.test("X11: hang-up and lookup in every state", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const begin = async (ending: string) => {
    const { callId, to } = await hosted.originate(numberOf(ending))
    return { callId, to, ref: hosted.ref(callId) }
  }
  const silent = await begin("14")
  t.equal(await hosted.lookup(silent.ref), "ringing", "no event yet")
  const ringing = await begin("03")
  await reaches(emulator, ringing.to, "ringing")
  t.equal(await hosted.lookup(ringing.ref), "ringing")
  const up = await begin("11")
  await line.event(up.callId, "Answered")
  t.equal(await hosted.lookup(up.ref), "up")
  for (const { callId, ref, to } of [silent, ringing, up]) {
    t.equal(await hosted.hangup(ref), undefined)
    await line.event(callId, "HungUp")
    t.notOk(isLive(emulator, to))
    t.equal(await hosted.lookup(ref), "ended")
    t.equal(await hosted.hangup(ref), undefined, "it has ended already")
  }
  emulator.forgetEnded()
  t.equal(await hosted.lookup(up.ref), "gone")
  t.match(await hosted.hangup(up.ref), { _tag: "ProviderError" }, "no trace of it means doubt")
  t.equal(await hosted.lookup(refTo(newCallId())), "gone")
  await emulator.server.refuseConnections(true)
  t.equal(await hosted.lookup(up.ref), "silent")
})

t.test("a hang-up or a lookup without a proper reply fails", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const { callId, to } = await hosted.originate(numberOf("11"))
  await line.event(callId, "Answered")
  const ref = hosted.ref(callId)
  const faults = [
    { status: 200, body: {} },
    { status: 200, body: "<html>" },
    { status: 404, body: "<html>" },
    { status: 503 },
    "reset"
  ] as const
  for (const reply of faults) {
    const fault = { acts: false, reply }
    emulator.server.fail(fault, isHangup)
    t.match(await hosted.hangup(ref), { _tag: "ProviderError" }, JSON.stringify(reply))
    for (const path of [`/v2/calls/${encodeURIComponent(idOf(hosted, callId))}`, "/v2/call_events"]) {
      emulator.server.fail(fault, (ask) => ask.method === "GET" && ask.path === path)
      t.equal(await hosted.lookup(ref), "silent", `${path} ${JSON.stringify(reply)}`)
    }
  }
  t.ok(isLive(emulator, to))
  await Effect.runPromise(line.trunk.sendDtmf?.(ref, "12#") ?? Effect.die("it cannot send keys"))
  t.equal(emulator.log.pressed(idOf(hosted, callId)), "12#")
})
