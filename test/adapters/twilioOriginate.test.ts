/**
 * The requests of Twilio's adapter, and what it concludes from the replies: a call is refused only if Twilio itself says so, and never requested twice. `T1`
 * and so on are cases of its conformance list.
 */
import fc from "fast-check"
import t from "tap"
import { replies } from "#adapters/twilio/TwilioReplies.ts"
import { formOf } from "#adapters/twilio/TwilioTrunk.ts"
import { placesCall } from "#test/emulators/twilio/TwilioEmulator.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { eventually, newCallId, numberOf } from "./Line.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openWorld } from "./twilioWorld.ts"
import { usual } from "#test/support/usual.ts"

t.test("T1: given a call with machine detection, then exactly this request is sent to Twilio", async (t) => {
  const { emulator, hosted } = await openWorld(t, {}, { amd_enabled: true })
  const to = numberOf("011")
  const { callId } = await hosted.originate(to, { detect: "who", ringTimeoutSeconds: 29.5 })
  const ask = emulator.server.requests.find(placesCall)
  t.equal(ask?.path, `/2010-04-01/Accounts/${emulator.accountSid}/Calls.json`)
  t.equal(ask?.headers["authorization"], `Basic ${Buffer.from(`${emulator.accountSid}:${emulator.authToken}`).toString("base64")}`)
  t.strictSame(
    [...new URLSearchParams(ask?.body)],
    [
      ["To", to],
      ["From", OUR_NUMBER],
      [
        "Twiml",
        `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${hosted.address("media", callId)}"/></Connect></Response>`
      ],
      ["StatusCallback", `${hosted.address("status", callId)}#rc=5&rp=all`],
      ["StatusCallbackMethod", "POST"],
      ["StatusCallbackEvent", "initiated"],
      ["StatusCallbackEvent", "ringing"],
      ["StatusCallbackEvent", "answered"],
      ["StatusCallbackEvent", "completed"],
      ["Timeout", "30"],
      ["TimeLimit", "630"],
      ["MachineDetection", "Enable"],
      ["AsyncAmd", "true"],
      ["AsyncAmdStatusCallback", `${hosted.address("amd", callId)}#rc=5&rp=all`],
      ["AsyncAmdStatusCallbackMethod", "POST"]
    ]
  )
})

t.test("T10: given an address for audio, then TwiML connects to it", async (t) => {
  const twimlFor = (media: string | undefined) => {
    const request = { callId: newCallId(), to: numberOf("001"), from: OUR_NUMBER, leave: () => true, ...usual }
    return formOf(request, { callbackUrl: () => "https://voice.example.com/", mediaUrl: media }, false).get("Twiml") ?? ""
  }
  const stream = (url: string) => [{ name: "Connect", attributes: {}, children: [{ name: "Stream", attributes: { url }, children: [] }] }]
  const odd = `wss://voice.example.com/media/a&b<"'\u0007`
  t.ok(twimlFor(odd).includes("/media/a&amp;b&lt;&quot;&apos;"))
  t.strictSame(verbsOf(twimlFor(odd)), stream(odd.slice(0, -1)))
  t.match(verbsOf(twimlFor(undefined)), [{ name: "Pause" }], "when there is none, then the line stays open")
})

t.test("only an error of Twilio itself refuses a call", async (t) => {
  const replyWith = (status: number, body: unknown) => ({ status, body, server: "", retryAfterMillis: undefined })
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.anything(),
      (status, body) => replies.refusalIn(replyWith(status, body)) === undefined
    ),
    { seed: 1 }
  )
  const provenBy = [...Array(500).keys()]
    .map((n) => n + 100)
    .filter((status) => replies.refusalIn(replyWith(status, { code: 20001, status })))
  t.strictSame(provenBy, [400, 401, 403, 404, 429])
})

t.test("given replies that prove nothing", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  const sid = 5
  const replies: ReadonlyArray<readonly [what: string, acts: boolean, reply: { status: number; body?: unknown }]> = [
    ["gets 500 although it is placed", true, { status: 500, body: { code: 20500, message: "Internal", status: 500 } }],
    ["gets 429 from a proxy", true, { status: 429, body: { message: "slow down" } }],
    ["gets 400 for another status", true, { status: 400, body: { code: 21211, message: "", status: 200 } }],
    ["gets 409", true, { status: 409, body: { code: 20409, message: "", status: 409 } }],
    ["gets an error and 200", true, { status: 200, body: { code: 21211, message: "", status: 400 } }],
    ["gets a number as its id", true, { status: 201, body: { sid } }]
  ]
  for (const [what, acts, reply] of replies) {
    await t.test(`when a request ${what}, then it is in doubt and not repeated`, async (t) => {
      emulator.server.fail({ acts, reply }, placesCall)
      const { failure, to } = await hosted.originate(numberOf("002"))
      t.match(failure, { _tag: "OriginateDoubtful", status: reply.status })
      if (acts) await eventually("the callee's phone", () => world.dials(to) === 1)
      t.strictSame([world.dials(to), world.asked(to)], [acts ? 1 : 0, 1])
    })
  }
})

t.test("given requests that Twilio refuses", async (t) => {
  const world = await openWorld(t, { mostCalls: 3 })
  const { emulator, hosted } = world
  const refusedWith = async (status: number, code: number, headers = {}) => {
    const message = `No call to +15551234567 from ${emulator.accountSid}`
    emulator.server.fail({ acts: false, reply: { status, body: { code, message, status }, headers } }, placesCall)
    const { failure, to } = await hosted.originate(numberOf("001"))
    t.notMatch(JSON.stringify(failure), /5551234567|AC0/, "without the number or the account")
    t.strictSame([world.dials(to), world.asked(to)], [0, 1])
    return failure
  }
  const refused = (reason: string, more: object = {}) => ({ _tag: "OriginateRefused", reason, ...more })

  const geo = (await hosted.originate("+99155500011")).failure
  t.match(geo, refused("number_refused", { cause: "facility_rejected" }), "T8: 21215")
  t.match(await refusedWith(400, 21211), refused("number_refused", { cause: "invalid_number_format" }), "T8: 21211")
  t.match(await refusedWith(401, 20003), refused("auth_refused"), "T8: 20003")
  t.match(await refusedWith(429, 20429, { "retry-after": "7" }), refused("rate_limited", { retryAfterMillis: 7000 }), "T8: 20429")
  t.match(await refusedWith(403, 20005), refused("auth_refused"))
  t.match(await refusedWith(400, 10004), refused("rate_limited"))
  t.match(await refusedWith(400, 21205), refused("misconfigured"))
  t.match(await refusedWith(400, 99999), refused("misconfigured"), "an unknown code")
  const foreign = (await hosted.originate(numberOf("001"), { from: "+15550009999" })).failure
  t.match(foreign, refused("caller_id_refused", { detail: /21210/ }), "somebody else's caller id")

  await Promise.all([1, 2, 3].map(() => hosted.originate(numberOf("003"))))
  t.match((await hosted.originate(numberOf("001"))).failure, refused("rate_limited"), "too many calls at once")

  const requests = emulator.server.requests.filter(placesCall).length
  for (const to of ["+0555", "+1555;/@x", "15551234567", "1000"]) {
    const { failure } = await hosted.originate(to)
    t.match(failure, refused("number_refused", { cause: "invalid_number_format" }), to)
  }
  t.match((await hosted.originate(numberOf("001"), { from: "anonymous" })).failure, refused("caller_id_refused"))
  t.equal(emulator.server.requests.filter(placesCall).length, requests, "then nothing is sent")
})

t.test("given a rate of one call a second, when more are requested, then they wait at Twilio", async (t) => {
  const world = await openWorld(t, { callsPerSecond: 1 })
  const calls = await Promise.all([1, 2].map(() => world.hosted.originate(numberOf("002"))))
  for (const { callId } of calls) t.equal(await world.hosted.line.hungUp(callId), "user_busy")
  const [first, second] = world.emulator.log.entries.filter(({ kind }) => kind === "originate")
  t.ok((second?.at ?? 0) - (first?.at ?? 0) > 900)
})
