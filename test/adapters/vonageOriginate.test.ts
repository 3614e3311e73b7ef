/**
 * The requests of Vonage's adapter, and what it concludes from the replies: a call is refused only if Vonage itself says so, and never requested twice.
 * `V1` and so on are cases of its conformance list.
 */
import fc from "fast-check"
import t from "tap"
import { replies } from "#adapters/vonage/VonageReplies.ts"
import { orderOf } from "#adapters/vonage/VonageTrunk.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import { placesCall } from "#test/emulators/vonage/VonageEmulator.ts"
import { errorOf } from "#test/emulators/vonage/VonageErrors.ts"
import { usual } from "#test/support/usual.ts"
import { eventually, newCallId, numberOf } from "./Line.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openWorld } from "./vonageWorld.ts"

t.test("V1: given a call, then exactly this request is sent to Vonage, with a separate token for each request", async (t) => {
  const { emulator, hosted } = await openWorld(t)
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

t.test("given times beyond Vonage's limits, or no address for audio", async (t) => {
  const request = { callId: newCallId(), to: numberOf("001"), from: OUR_NUMBER, leave: () => true, ...usual }
  const callbackUrl = () => "https://voice.example.com/e"
  const asked = (more: Partial<OriginateRequest>) =>
    orderOf({ ...request, ...more }, { callbackUrl, mediaUrl: "wss://voice.example.com/m" })
  t.match(asked({ ringTimeoutSeconds: 600, maxDurationSeconds: 86_400 }), { ringing_timer: 120, length_timer: 7200 })
  t.match(asked({ ringTimeoutSeconds: 0 }), { ringing_timer: 1 })
  const { ncco } = orderOf(request, { callbackUrl, mediaUrl: undefined })
  t.strictSame(ncco, [{ action: "conversation", name: request.callId }], "then the line stays open")
})

t.test("only an error of Vonage itself refuses a call", async (t) => {
  const replyWith = (status: number, body: unknown) => ({ status, body, server: "", retryAfterMillis: undefined })
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.anything(),
      (status, body) => replies.refusalIn(replyWith(status, body)) === undefined
    ),
    { seed: 1 }
  )
  for (const body of [errorOf(0, "forbidden").body, errorOf(0, "forbidden", undefined, true).body]) {
    const provenBy = [...Array(500).keys()].map((n) => n + 100).filter((status) => replies.refusalIn(replyWith(status, body)))
    t.strictSame(provenBy, [400, 401, 402, 403, 429])
  }
})

t.test("given replies that are lost or prove nothing", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  await t.test("V5: when the leg of the websocket is reported first, then it does not name the call", async (t) => {
    emulator.server.fail({ acts: true, reply: "reset" }, placesCall)
    emulator.callbacks.hold()
    const { callId, to } = await hosted.originate(numberOf("001"))
    await eventually("the end", () => emulator.callsTo(to)[0]?.status === "completed")
    emulator.callbacks.release("reversed")
    await emulator.callbacks.settled()
    t.equal(hosted.ref(callId).providerCallId, emulator.callsTo(to)[0]?.uuid)
    t.ok(hosted.line.story(callId).includes("HungUp normal_clearing"))
  })

  const invalid = { type: "https://developer.nexmo.com/api-errors#invalid", title: "Bad Request" }
  const replies: ReadonlyArray<readonly [what: string, acts: boolean, reply: { status: number; body?: unknown }]> = [
    ["gets 500 although it is placed", true, { status: 500, body: { ...invalid, title: "Internal Error" } }],
    ["gets 401 without a type", false, { status: 401, body: { title: "Unauthorized" } }],
    ["gets 429 from a proxy", true, { status: 429, body: { message: "slow down" } }],
    ["gets an error beside a call", true, { status: 400, body: { ...invalid, uuid: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" } }],
    ["gets 404", true, { status: 404, body: invalid }],
    ["gets an error and 200", true, { status: 200, body: { ...invalid, uuid: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" } }],
    ["gets a number as its id", true, { status: 201, body: { uuid: 17_600_000_000 } }]
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

t.test("given requests that Vonage refuses", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const refused = (reason: string, more: object = {}) => ({ _tag: "OriginateRefused", reason, ...more })
  const failureOf = async (to: string, more: Partial<OriginateRequest> = {}) => {
    const { failure } = await hosted.originate(to, more)
    t.notMatch(JSON.stringify(failure), to.slice(2))
    t.equal(world.dials(to), 0)
    return failure
  }
  const refusedWith = (reply: ReturnType<typeof errorOf> & { headers?: Record<string, string> }) => {
    emulator.server.fail({ acts: false, reply }, placesCall)
    return failureOf(numberOf("001"))
  }

  for (const isOld of [false, true]) {
    emulator.hasOldErrors = isOld
    t.match(await failureOf("+99955500011"), refused("number_refused", { cause: "invalid_number_format" }), "an invalid number")
    t.match(await failureOf(numberOf("001"), { from: "+15550009999" }), refused("caller_id_refused"), "somebody else's caller id")
    emulator.hasCredit = false
    t.match(await failureOf(numberOf("001")), refused("no_credit"), "V8: no credit")
    emulator.hasCredit = true
    t.match(await refusedWith(errorOf(401, "unauthorized", undefined, isOld)), refused("auth_refused"), "V8: 401")
    t.match(await refusedWith(errorOf(402, "out-of-credit", undefined, isOld)), refused("no_credit"))
    t.match(await refusedWith(errorOf(403, "forbidden", undefined, isOld)), refused("misconfigured"))
    t.match(await refusedWith(errorOf(400, "invalid", "ncco", isOld)), refused("misconfigured", { detail: "HTTP 400 invalid ncco" }))
    t.match(await refusedWith(errorOf(400, "invalid", undefined, isOld)), refused("misconfigured"))
    t.match(await refusedWith(errorOf(400, "invalid", "+15551234567", isOld)), refused("misconfigured", { detail: "HTTP 400 invalid ?" }))
    const wait = { ...errorOf(429, "throttled", undefined, isOld), headers: { "retry-after": "7" } }
    t.match(await refusedWith(wait), refused("rate_limited", { retryAfterMillis: 7000 }))
  }

  const requests = emulator.dials().length
  for (const to of ["+0555", "+1555;/@x", "15551234567", "1000"])
    t.match((await hosted.originate(to)).failure, refused("number_refused", { cause: "invalid_number_format" }), to)
  t.match((await hosted.originate(numberOf("001"), { from: "anonymous" })).failure, refused("caller_id_refused"))
  t.equal(emulator.dials().length, requests, "then nothing is sent")
})

t.test("V8: given more calls than Vonage accepts in a second, then the others are refused and can be placed later", async (t) => {
  const world = await openWorld(t, { callsPerSecond: 3 })
  const numbers = [1, 2, 3, 4].map(() => numberOf("002"))
  const calls = await Promise.all(numbers.map((to) => world.hosted.originate(to)))
  const refused = calls.filter(({ failure }) => failure !== undefined)
  t.match(refused, [{ failure: { _tag: "OriginateRefused", reason: "rate_limited" } }])
  const to = refused[0]?.to ?? ""
  t.equal(world.dials(to), 0)
  await eventually("a second", () => performance.timeOrigin + performance.now() - (world.emulator.dials().at(-1)?.at ?? 0) > 1000)
  t.equal((await world.hosted.originate(to)).failure, undefined)
  t.strictSame([world.dials(to), world.emulator.log.count("originate")], [1, 4])
})
