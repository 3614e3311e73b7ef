/** What is specific to calls through Vonage: its requests, the second leg of each call, and transfers. `V2` and so on are cases of its conformance list. */
import t from "tap"
import { orderOf } from "#adapters/vonage/VonageTrunk.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import { untilTrue } from "#test/support/until.ts"
import { usual } from "#test/support/usual.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { newCallId, numberOf } from "./Line.ts"

t.test("V1: given a call, then exactly this request is sent to Vonage, with a separate token for each request", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "vonage")
  const to = numberOf("011")
  const { callId, failure } = await hosted.originate(to, { ringTimeoutSeconds: 29.5 })
  t.equal(failure, undefined)
  const [ask] = emulator.dials()
  const eventUrl = [hosted.address("event", callId)]
  const endpoint = [{ type: "websocket", uri: hosted.address("media", callId), "content-type": "audio/l16;rate=8000" }]
  t.strictSame(JSON.parse(ask?.body ?? ""), {
    to: [{ type: "phone", number: to.slice(1) }],
    from: { type: "phone", number: OUR_NUMBER.slice(1) },
    ncco: [{ action: "connect", from: OUR_NUMBER.slice(1), eventUrl, endpoint }],
    event_url: eventUrl,
    event_method: "POST",
    ringing_timer: 30,
    length_timer: 630
  })
  t.equal(ask?.headers["content-type"], "application/json")
  await hosted.lookup(hosted.ref(callId))
  const tokens = emulator.server.requests.map(({ headers }) => headers["authorization"]?.replace("Bearer ", "").split(".") ?? [])
  const [header, ...claims] = [tokens[0]?.[0] ?? "", ...tokens.map(([, part = ""]) => part)].map((part) =>
    JSON.parse(Buffer.from(part, "base64url").toString())
  )
  t.strictSame(header, { typ: "JWT", alg: "RS256" })
  t.equal(new Set(claims.map(({ jti }) => jti)).size, claims.length)
  t.ok(claims.length >= 3)
  for (const { application_id, exp, iat } of claims) t.strictSame([application_id, exp - iat], [emulator.applicationId, 300])
})

t.test("V4: given times beyond Vonage's limits, detection, or no address for audio", async (t) => {
  const request = { callId: newCallId(), to: numberOf("001"), from: OUR_NUMBER, leave: () => true, ...usual }
  const callbackUrl = () => "https://voice.example.com/e"
  const asked = (more: Partial<OriginateRequest>) =>
    orderOf({ ...request, ...more }, { callbackUrl, mediaUrl: "wss://voice.example.com/m" })
  t.match(asked({ ringTimeoutSeconds: 600, maxDurationSeconds: 86_400 }), { ringing_timer: 120, length_timer: 7200 })
  t.match(asked({ ringTimeoutSeconds: 0 }), { ringing_timer: 1 })
  t.match(asked({ detect: "who" }), { machine_detection: "continue", advanced_machine_detection: undefined })
  const untilBeep = { behavior: "continue", mode: "detect_beep", beep_timeout: 45 }
  t.match(asked({ detect: "greetingEnd" }), { machine_detection: undefined, advanced_machine_detection: untilBeep })
  const { ncco } = orderOf(request, { callbackUrl, mediaUrl: undefined })
  t.strictSame(ncco, [{ action: "conversation", name: request.callId }], "then the line stays open")
})

t.test("V2, V5: when a callee has talked, then each step and the bill are reported, and the websocket's leg is not", async (t) => {
  const { emulator, hosted, storyOf } = await openCarrier(t, "vonage")
  const { callId, to } = await hosted.originate(numberOf("001"))
  await hosted.line.event(callId, "Billed")
  t.strictSame(storyOf(callId), ["Named", "Placed", "Rang", "Answered", "HungUp normal_clearing", "Billed"])
  const [call] = emulator.callsTo(to)
  t.equal(hosted.ref(callId).providerCallId, call?.uuid)
  const bill = call?.record()
  const reports = hosted.line.events(callId).filter(({ _tag }) => _tag === "Billed" || _tag === "HungUp")
  t.match(reports, [
    { at: Date.parse(String(Reflect.get(bill ?? {}, "end_time"))) },
    { amount: Reflect.get(bill ?? {}, "price"), currency: "EUR" }
  ])
  const toAddress = hosted.door.deliveries.filter(({ callback }) => callback.call?.callId === callId)
  const legs = toAddress.filter(({ callback }) => Buffer.from(callback.body).includes('"to":"ws:'))
  t.equal(legs.length, 3, "the websocket's own start, answer and end came to the same address")
  t.ok(legs.every(({ read }) => read?.events.length === 0))
})

t.test("V5: when the leg of the websocket is reported first, then it does not name the call", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "vonage")
  emulator.server.fail({ acts: true, reply: "reset" }, emulator.places)
  emulator.callbacks.hold()
  const { callId, to } = await hosted.originate(numberOf("001"))
  await untilTrue("end", () => emulator.callsTo(to)[0]?.status === "completed")
  emulator.callbacks.release("reversed")
  await emulator.callbacks.settled()
  t.equal(hosted.ref(callId).providerCallId, emulator.callsTo(to)[0]?.uuid)
  t.ok(hosted.line.story(callId).includes("HungUp normal_clearing"))
})

t.test("V12: when a call has ended, then hanging up again succeeds, with either status that Vonage documents", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "vonage")
  for (const state of ["started", "up"] as const) {
    const { callId, ref } = await callIn(state)
    hosted.giveUp(callId)
    t.equal(await hosted.hangup(ref()), undefined)
    t.equal(await hosted.line.hungUp(callId), state === "up" ? "normal_clearing" : "originator_cancel")
    for (const status of [404, 400] as const) {
      emulator.endedStatus = status
      t.equal(await hosted.hangup(ref()), undefined, String(status))
    }
  }
})

t.test("given a callee who talks to the agent", async (t) => {
  const { callIn, dials, emulator, hosted } = await openCarrier(t, "vonage")
  const { callId, ref } = await callIn("up")
  const repliesOf = (kind: string) =>
    hosted.door.deliveries
      .filter(({ callback }) => callback.kind === kind)
      .flatMap(({ read }) => (read?.reply === undefined ? [] : [read.reply]))
  const outcomes = () => hosted.line.events(callId).filter(({ _tag }) => _tag === "Transferred")

  await t.test("when the destination is busy, then the callee is connected to the agent again", async (t) => {
    const to = numberOf("002")
    t.match(await hosted.transfer(ref(), to, 1), { _tag: "Success" })
    const { body = "{}", path } = emulator.server.requests.find(emulator.transfers) ?? {}
    t.equal(path, `/v1/calls/${ref().providerCallId}`)
    const from = OUR_NUMBER.slice(1)
    const address = hosted.address("transfer-a", callId)
    const dial = { eventType: "synchronous", eventUrl: [address], timeout: 120, endpoint: [{ type: "phone", number: to.slice(1) }] }
    t.strictSame(JSON.parse(body), {
      action: "transfer",
      destination: { type: "ncco", ncco: [{ action: "connect", from, ...dial }] }
    })
    await untilTrue("the outcome", () => outcomes().length > 0)
    t.strictSame(outcomes(), [{ _tag: "Transferred", transfer: 1, answered: false, cause: "user_busy" }])
    const endpoint = [{ type: "websocket", uri: hosted.address("media", callId), "content-type": "audio/l16;rate=8000" }]
    const replies = repliesOf("transfer-a").map(({ body, mediaType }) => [mediaType, JSON.parse(body)])
    t.strictSame(replies, [["application/json", [{ action: "connect", from, endpoint }]]])
    t.equal(dials(to), 1)
  })
  await t.test("when we have hung up before the destination refuses, then nothing follows", async (t) => {
    hosted.giveUp(callId)
    await hosted.transfer(ref(), numberOf("002"), 3)
    await hosted.line.event(callId, "HungUp")
    t.strictSame(repliesOf("transfer-c"), [])
  })
})
