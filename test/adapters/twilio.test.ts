/**
 * What is specific to calls through Twilio beyond `twilioConformance.test.ts`: the adapter against an emulated Twilio over real sockets. What the callees saw is the judge. `T2` and so on are
 * cases of its conformance list.
 */
import fc from "fast-check"
import t from "tap"
import twilio from "#adapters/twilio/twilio.ts"
import { signed } from "#test/emulators/twilio/signed.ts"
import { placesCall } from "#test/emulators/twilio/TwilioEmulator.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { numberOf } from "./Line.ts"
import { callIn, openWorld, storyOf } from "./twilioWorld.ts"

t.test("given calls that are reported in order", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  t.jobs = 4

  t.test("T2: when the callee answers and hangs up, then each step is reported", { buffered: true }, async (t) => {
    const { callId, failure, to } = await hosted.originate(numberOf("001"))
    t.equal(failure, undefined)
    await hosted.line.event(callId, "HungUp")
    t.strictSame(storyOf(world, callId), ["Named", "Placed", "Rang", "Answered", "HungUp normal_clearing"])
    const [record] = emulator.callsTo(to)
    t.equal(hosted.ref(callId).providerCallId, record?.sid)
    t.match(
      hosted.line.events(callId).filter(({ _tag }) => _tag === "HungUp"),
      [{ at: Date.parse(record?.end_time ?? "") }]
    )
    t.strictSame([world.dials(to), world.asked(to)], [1, 1])
  })
})

t.test("given machine detection", async (t) => {
  const world = await openWorld(t, {}, { amd_enabled: true })
  const { emulator, hosted } = world
  const detectedOf = async (ending: string) => {
    const { callId } = await hosted.originate(numberOf(ending), { detect: "who" })
    await until("detection", () => hosted.received.find(({ callback: { call, kind } }) => kind === "amd" && call?.callId === callId))
    await hosted.hangup(hosted.ref(callId))
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
    return hosted.line.events(callId).flatMap((event) => (event._tag === "Detected" ? [event.who] : []))
  }
  t.strictSame(await detectedOf("004"), ["machine"], "T5: then a machine is reported")
  t.strictSame(await detectedOf("011"), ["human"], "then a human is")
  const odd = [
    ["unknown", ["unknown"]],
    ["fax", ["fax"]],
    ["machine", []],
    ["", []],
    ["constructor", []]
  ] as const
  for (const [answeredBy, who] of odd) {
    emulator.detect(answeredBy)
    t.strictSame(await detectedOf("011"), who, `T6: '${answeredBy}' is not a machine`)
  }
})

t.test("given callbacks in disorder", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  await t.test("when the engine cannot accept one, then Twilio sends it again", async (t) => {
    hosted.failures = 1
    const { callId } = await hosted.originate(numberOf("002"))
    t.equal(await hosted.line.hungUp(callId), "user_busy")
    await emulator.sender.settled()
    const { deliveries } = emulator.sender
    t.strictSame(
      deliveries.slice(-3).map(({ status }) => status),
      [503, 200, 200]
    )
    t.equal(deliveries.at(-3)?.body, deliveries.at(-2)?.body)
  })
})

t.test("T9: given a callback that Twilio signed", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { callId } = await hosted.originate(numberOf("011"))
  await hosted.line.event(callId, "Answered")
  const callback = await until("callback", () => hosted.received.at(-1)?.callback)
  const { "content-type": type = "", "x-twilio-signature": signature = "" } = callback.headers
  const post = async (body: string, { url = callback.url, ...headers }: Readonly<Record<string, string>> = {}) =>
    (await fetch(url, { method: "POST", body, headers: { "content-type": type, "x-twilio-signature": signature, ...headers } })).status
  const body = Buffer.from(callback.body).toString()
  t.equal(await post(body, { "x-forwarded-host": "elsewhere.example.com" }), 200, "as it was, through a proxy")
  const send = (fields: Readonly<Record<string, string>>) => {
    const { headers, url, body } = signed(callback.url, fields, emulator.authToken)
    return post(body, { url, ...headers })
  }
  const end = { AccountSid: emulator.accountSid, CallSid: hosted.ref(callId).providerCallId ?? "", CallStatus: "completed" }
  const told = hosted.line.story(callId)
  t.equal(await send({ ...end, CallSid: `CA${"f".repeat(32)}` }), 200, "about another leg")
  t.equal(await send({ ...end, CallStatus: "constructor" }), 200, "with a status that does not exist")
  t.equal(await send({ CallStatus: "completed" }), 200, "about no call")
  t.strictSame(hosted.line.story(callId), told, "then nothing is reported")
  t.equal(await send(end), 200)
  t.equal(hosted.line.story(callId).at(-1), "HungUp normal_clearing")
})

t.test("given whatever fields, when Twilio signed them, then they are read without an error", async () => {
  const authToken = "12345678901234567890123456789012"
  const url = "https://voice.example.com/status"
  const names = ["CallSid", "CallStatus", "AnsweredBy", "Timestamp", "CallDuration", "SipResponseCode", "ErrorCode", "SequenceNumber"]
  const values = ["", "completed", "failed", "constructor", "__proto__", "-1", "1e99", "99999999999", "603", `CA${"0".repeat(32)}`]
  const fields = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...values), fc.string()))
  fc.assert(
    fc.property(fields, (given) => {
      const { body, headers } = signed(url, { ...given, CallSid: `CA${"1".repeat(32)}` }, authToken)
      const callback = {
        method: "POST",
        url,
        headers,
        body: Buffer.from(body),
        at: 0,
        kind: "status",
        call: undefined,
        isWanted: true
      } as const
      const read = twilio.read?.({ auth_token: authToken }, callback)
      const [named, ...events] = read?.events ?? []
      return named?.event._tag === "Named" && events.every(({ event }) => !("at" in event) || Number.isFinite(event.at))
    }),
    { seed: 1 }
  )
})

t.test("given calls to hang up", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  await t.test("when Twilio accepts the end and the call continues to ring, then it is canceled", async (t) => {
    const { callId, ref } = await callIn(world, "ringing")
    const stillRings = { sid: ref().providerCallId, status: "ringing" }
    emulator.server.fail({ acts: false, reply: { status: 200, body: stillRings } }, ({ body }) => body === "Status=completed")
    t.equal(await hosted.hangup(ref()), undefined)
    t.equal(await hosted.line.hungUp(callId), "originator_cancel")
  })
  await t.test("T13: when it has ended, then hanging up succeeds", async (t) => {
    const { ref } = await callIn(world, "ended")
    t.equal(await hosted.hangup(ref()), undefined, "of a call that Twilio knows")
    emulator.forget(ref().providerCallId ?? "")
    t.equal(await hosted.hangup(ref()), undefined, "of a call that it no longer knows")
  })
  await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
    const { callId, ref } = await callIn(world, "up")
    const failed = { _tag: "ProviderError", operation: "hangup" }
    t.match(await hosted.hangup({ ...ref(), providerCallId: undefined }), failed, "without Twilio's id")
    t.match(await hosted.hangup({ ...ref(), providerCallId: "../Recordings" }), failed, "with an id that is not Twilio's")
    const isUpdate = ({ method, path }: { method: string; path: string }) => method === "POST" && path.includes("/Calls/CA")
    for (const reply of ["reset", { status: 503 }, { status: 404, body: "<html></html>" }, { status: 200, body: {} }] as const) {
      emulator.server.fail({ acts: false, reply }, isUpdate)
      t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
    }
    t.equal(await hosted.lookup(ref()), "up")
    t.equal(await hosted.hangup(ref()), undefined)
    await hosted.line.event(callId, "HungUp")
  })
})

t.test("given calls to look up", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const looks = [
    ["queued", "queued"],
    ["ringing", "ringing"],
    ["up", "up"],
    ["ended", "ended"]
  ] as const
  for (const [state, presence] of looks) {
    await t.test(`when it is ${state}, then it is found by its id, and by its number`, async (t) => {
      const { callId, ref, to } = await callIn(world, state)
      t.equal(await hosted.lookup(ref()), presence)
      t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), presence)
      t.match(hosted.line.events(callId).at(state === "ended" ? -2 : -1), { _tag: "Named", providerCallId: emulator.callsTo(to)[0]?.sid })
      await hosted.hangup(ref())
      emulator.holdQueue(false)
    })
  }
  await t.test("when its callbacks are lost, then the look reports its end", async (t) => {
    emulator.sender.hold()
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => emulator.callsTo(to)[0]?.status === "completed")
    emulator.sender.lose()
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.strictSame(hosted.line.story(callId), ["Named", "Answered", "HungUp normal_clearing", "Billed"])
    t.match(hosted.line.events(callId).at(-1), { amount: "0.0130", currency: "USD" }, "and what it cost")
  })
  await t.test("T14: when two looks find no price, then a third one reports it, and all of them the same end", async (t) => {
    emulator.holdPrices(true)
    const { callId } = await hosted.originate(numberOf("001"))
    await hosted.line.event(callId, "HungUp")
    for (let looks = 0; looks < 2; looks++) t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.notOk(hosted.line.story(callId).includes("Billed"))
    emulator.holdPrices(false)
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.match(hosted.line.events(callId).at(-1), { _tag: "Billed", amount: "0.0130", currency: "USD" })
    const ends = hosted.line.story(callId).filter((told) => told.startsWith("HungUp"))
    t.strictSame([...new Set(ends)], ["HungUp normal_clearing"])
  })
  await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
    const { ref, to } = await callIn(world, "ended")
    const { callId } = await hosted.originate(to)
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), "silent")
    t.equal(
      await hosted.lookup({ ...ref(), providerCallId: undefined, sentAt: Date.now() - 86_400_000 }),
      "gone",
      "at another time there are none"
    )
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined, from: "+15550009999" }), "gone", "from another number neither")
    hosted.others.add(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), "ended", "unless all but one are known to be other calls")
  })
  await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
    emulator.server.fail({ acts: false, reply: "reset" }, placesCall)
    const { callId } = await hosted.originate(numberOf("001"))
    t.equal(await hosted.lookup(hosted.ref(callId)), "gone")
    t.equal(await hosted.lookup({ ...hosted.ref(callId), providerCallId: `CA${"0".repeat(32)}` }), "gone")
    t.equal(await hosted.lookup({ ...hosted.ref(callId), to: undefined }), "silent", "unless its number is not known")
    for (const reply of [{ status: 200, body: "<html></html>" }, { status: 503 }, { status: 404 }] as const) {
      emulator.server.fail({ acts: false, reply }, ({ method }) => method === "GET", 2)
      t.equal(await hosted.lookup({ ...hosted.ref(callId), providerCallId: `CA${"0".repeat(32)}` }), "silent", `${reply.status} by its id`)
      t.equal(await hosted.lookup(hosted.ref(callId)), "silent", `${reply.status} by its number`)
    }
  })
})

t.test("given keys for the callee, which the adapter cannot send yet, then it says so", async (t) => {
  const { hosted } = await openWorld(t)
  t.equal(hosted.line.trunk.sendDtmf, undefined)
})
