/** How the Cloudonix adapter reads replies, sessions and callbacks. N1 and so on are the conformance cases of the carrier's reference. */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t from "tap"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { isOf, isOfAnother, lookOf } from "#adapters/cloudonix/CloudonixSession.ts"
import { numbersIn, orderOf } from "#adapters/cloudonix/CloudonixTrunk.ts"
import { FollowedCalls } from "#adapters/shared/FollowedCalls.ts"
import { limitFor, RequestBudget } from "#adapters/shared/RequestBudget.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { forAll } from "#test/support/forAll.ts"
import { refTo } from "#test/support/refTo.ts"
import { callbackOf } from "./callbackOf.ts"
import { newCallId } from "./Line.ts"

const callId = newCallId()
const token = "16a7294c989b11e7b3d32b9edb8660c7"
const otherToken = "26a7294c989b11e7b3d32b9edb8660c7"
const to = "+14155550101"
const from = "+15550009000"

// --- originate

t.test("N1: the request for a call holds what Cloudonix documents, and nothing else", async (t) => {
  const request = { callId, to, from, detect: "no", leave: () => true, maxDurationSeconds: 300, ringTimeoutSeconds: 29.2 } as const
  const odd = `wss://voice.example.com/media/a&b<"'\u0007`
  const callbackUrl = () => "https://voice.example.com/cb"
  const { cxml, ...order } = orderOf(request, { callbackUrl, mediaUrl: odd })
  t.strictSame(order, { destination: to, "caller-id": from, callback: "https://voice.example.com/cb", timeout: 30, timeLimit: 360 })
  t.ok(cxml.includes("/media/a&amp;b&lt;&quot;&apos;"))
  t.strictSame(verbsOf(cxml), [
    { name: "Connect", attributes: {}, children: [{ name: "Stream", attributes: { url: odd.slice(0, -1) }, children: [] }] }
  ])
  t.match(verbsOf(orderOf(request, { callbackUrl, mediaUrl: undefined }).cxml), [{ name: "Pause" }], "when there is no audio")
})

t.test("numbers are listed in E.164", async (t) => {
  t.strictSame(numbersIn({ body: [{ source: "15550009000" }, { dnid: "+15550009001" }, { source: "support" }, 5] }), [from, "+15550009001"])
})

// --- sessions

const session = (more: object) => ({
  token,
  domain: "acme.cloudonix.net",
  destination: to,
  callerId: from,
  direction: "outbound-api",
  ...more
})
const answered = { callStartTime: 1000, callAnswerTime: 5000, callEndTime: 12_500 }

t.test("a look says in which state a session is, and how it ended", async (t) => {
  const end = { _tag: "HungUp", cause: "normal_clearing" }
  const looks: ReadonlyArray<readonly [session: object, presence: string, ...told: ReadonlyArray<object>]> = [
    [{ status: "new" }, "ringing", { _tag: "Placed" }],
    [{ status: "processing" }, "ringing", { _tag: "Placed" }],
    [{ status: "ringing" }, "ringing", { _tag: "Rang" }],
    [{ status: "connected", callAnswerTime: 5000 }, "up", { _tag: "Answered", at: 5000 }],
    [{ status: "answer" }, "up", { _tag: "Answered" }],
    [{ status: "completed", ...answered }, "ended", { _tag: "Answered", at: 5000 }, { ...end, at: 12_500 }],
    [{ status: "completed" }, "ended", { _tag: "Answered" }, end],
    [{ status: "completed", callAnswerTime: 0 }, "ended", end],
    [{ status: "foo" }, "ringing"],
    [{ status: "foo", callAnswerTime: 5000 }, "up"],
    [{ status: "foo", callEndTime: 5000 }, "ended", { _tag: "HungUp", cause: "unknown", at: 5000 }]
  ]
  for (const [more, presence, ...told] of looks) t.strictSame(lookOf(session(more), token), { presence, told }, JSON.stringify(more))
  for (const one of [undefined, "text", {}, [session({ status: "new" })], session({}), session({ status: 5 })])
    t.equal(lookOf(one, token), undefined)
  t.equal(lookOf(session({ status: "completed" }), otherToken), undefined, "another session")
})

t.test("N6: an end has the cause that the table says", async (t) => {
  const causes: ReadonlyArray<readonly [object, string]> = [
    [{ status: "busy" }, "user_busy"],
    [{ status: "noanswer" }, "no_answer"],
    [{ status: "cancel" }, "ring_timeout"],
    [{ status: "nocredit" }, "no_credit"],
    [{ status: "congestion" }, "congestion"],
    [{ status: "error", error: "no route" }, "interworking"],
    [{ status: "failed", error: 603 }, "interworking"],
    [{ status: "failed", error: "SIP/2.0 603 Decline" }, "call_rejected"],
    [{ status: "external", error: "404" }, "unallocated_number"],
    [{ status: "busy", error: "SIP 404" }, "user_busy"]
  ]
  for (const [more, cause] of causes) t.match(lookOf(session(more), token)?.told, [{ _tag: "HungUp", cause }], JSON.stringify(more))
})

t.test("a session is matched to a call without a token by its numbers and its time", async (t) => {
  const call = refTo(callId, { to, from, sentAt: Date.parse("2026-11-25T10:00:00Z") })
  const one = session({ status: "ringing", createdAt: "2026-11-25T10:00:01Z" })
  t.ok(isOf(call, one))
  t.ok(isOf(call, { ...one, destination: to.slice(1), callerId: from.slice(1) }))
  const others = [
    { ...one, destination: "+14155550102" },
    { ...one, callerId: "+15550009001" },
    { ...one, direction: "inbound" },
    { ...one, createdAt: "2026-11-25T09:59:00Z" },
    { ...one, createdAt: "2026-11-25T10:02:00Z" },
    { ...one, createdAt: undefined },
    { ...one, destination: undefined },
    undefined
  ]
  for (const other of others) t.notOk(isOf(call, other), JSON.stringify(other))
})

// --- callbacks

const ref = refTo(callId, { to, from })
const config = { bearer_token: "XI1", domain_id: "Acme." }
const read = (body: unknown, more: Partial<Callback> = {}, settings: object = {}) =>
  cloudonix.read?.(
    { ...config, ...settings },
    callbackOf(typeof body === "string" ? body : JSON.stringify(body), { kind: "session", call: ref, ...more })
  )
const tagsOf = (body: unknown, more: Partial<Callback> = {}) => read(body, more)?.events.map(({ event }) => event._tag)

t.test("N5, N14: callbacks report a live call, as an object or an array, and no other status does", async (t) => {
  const named = { ...ref, providerCallId: token }
  for (const one of [session({ status: "connected" }), [session({ status: "connected" })]]) t.strictSame(tagsOf(one), ["Named", "Answered"])
  const statuses = [
    ["new", ["Placed"]],
    ["processing", ["Placed"]],
    ["ringing", ["Rang"]],
    ["answered", ["Answered"]],
    ["foo", []],
    ["constructor", []]
  ] as const
  for (const [status, tags] of statuses) t.strictSame(tagsOf(session({ status }), { call: named }), tags, status)
  for (const body of ["", "<html>", "[]", "5", {}, [session({ status: "new" }), session({ status: "new" })], session({ status: 5 })])
    t.strictSame(read(body), { events: [] }, JSON.stringify(body))
})

t.test("an end is not believed from a callback", async (t) => {
  for (const status of ["completed", "busy", "noanswer", "cancel", "nocredit", "congestion", "failed", "error", "external"])
    t.strictSame(tagsOf(session({ status, ...answered }), { call: { ...ref, providerCallId: token } }), ["EndClaimed"], status)
  t.strictSame(tagsOf(session({ status: "foo", ...answered }), { call: { ...ref, providerCallId: token } }), ["EndClaimed"])
})

t.test("a token from a callback may be that of another session", async (t) => {
  const call = refTo(callId, { to, from, sentAt: 1_000_000 })
  const mine = session({ callStartTime: 1_000_500 })
  t.notOk(isOfAnother(mine, call))
  t.notOk(isOfAnother({ ...mine, callStartTime: 900_000 }, call), "the clocks differ")
  t.notOk(isOfAnother({ ...mine, destination: "0014155550101", callStartTime: undefined }, call), "the number was translated")
  t.ok(isOfAnother({ ...mine, destination: "+14155550102" }, call))
  t.ok(isOfAnother({ ...mine, callStartTime: 600_000 }, call), "a call to the same number long before")
})

t.test("N4: repeats have the same id, and other statuses another one", async (t) => {
  const idOf = (status: string, more: object = {}) => read(session({ status, ...more }))?.deliveryId
  t.equal(idOf("ringing", { modifiedAt: "1" }), idOf("ringing", { modifiedAt: "2" }))
  t.not(idOf("ringing"), idOf("connected"))
  t.equal(idOf("completed"), undefined, "except for an end: a forged one must not make the genuine one a repeat")
})

t.test("N9: a callback of another call or domain is refused", async (t) => {
  const known = { call: { ...ref, providerCallId: otherToken } }
  t.equal(read(session({ status: "connected" }), known), undefined, "with another call's token")
  t.equal(read(session({ status: "connected", destination: "+14155550102" })), undefined, "to another number, before the token is known")
  t.equal(read(session({ status: "connected", domain: "other.cloudonix.net" })), undefined, "of another domain")
  t.ok(read(session({ status: "connected", domain: { id: 3, name: "acme.cloudonix.net" } })), "with the domain's record")
  const key = { authorization_api_key: "cx-static-key-1" }
  t.equal(read(session({ status: "connected" }), {}, key), undefined, "without the domain's key")
  t.equal(read(session({ status: "connected" }), { headers: { "x-cx-apikey": "cx-static-key-2" } }, key), undefined, "with another key")
  t.ok(read(session({ status: "connected" }), { headers: { "x-cx-apikey": "cx-static-key-1" } }, key))
})

t.test("any input is read without an error", async () => {
  const names = ["token", "status", "domain", "destination", "callAnswerTime", "callEndTime", "error", "session"]
  const values = [token, "completed", "connected", "__proto__", "acme.cloudonix.net", 0, -1, 1e300, null]
  const bodies = fc.oneof(fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...values), fc.anything())), fc.anything())
  const textOf = (body: unknown): string => {
    try {
      return JSON.stringify(body) ?? ""
    } catch {
      return ""
    }
  }
  forAll(bodies, (body) => {
    read(textOf(body))
    numbersIn({ body })
    isOf(ref, body)
    return (lookOf(body, token)?.told ?? []).every((event) => !("at" in event) || Number.isFinite(event.at))
  })
})

// --- what is looked up, and when

const withClock = <A>(test: Effect.Effect<A>) => Effect.runPromise(Effect.scoped(Effect.provide(test, TestClock.layer())))

t.test("calls that have been silent for 15 s are looked up, the oldest first", (t) =>
  withClock(
    Effect.gen(function* () {
      const followed = new FollowedCalls(yield* Effect.clockWith(Effect.succeed))
      const [one, other] = [1, 2].map((n) => refTo(newCallId(), { providerCallId: token, sentAt: n }))
      if (one === undefined || other === undefined) return
      followed.heard(one)
      yield* TestClock.adjust("5 seconds")
      followed.heard(other)
      followed.heard(ref)
      yield* TestClock.adjust("9 seconds")
      t.equal(followed.silent(), undefined)
      yield* TestClock.adjust("1 second")
      t.equal(followed.silent(), one)
      yield* TestClock.adjust("60 seconds")
      t.equal(followed.silent(), one)
      followed.heard(one)
      t.equal(followed.silent(), other)
      followed.ended(other)
      t.equal(followed.silent(), undefined, "a call without a token is not looked up")
      followed.suspect(other)
      t.equal(followed.silent(), other, "one that may be over is looked up at once")
    })
  )
)

t.test("of ten requests within ten seconds, looks leave two to calls and hang-ups", (t) =>
  withClock(
    Effect.gen(function* () {
      const budget = new RequestBudget(yield* Effect.clockWith(Effect.succeed), { most: 10, windowMillis: 10_000 })
      t.ok(budget.mayPoll())
      budget.spend()
      t.notOk(budget.mayPoll(), "polls are at least a second apart")
      yield* TestClock.adjust("1 second")
      t.ok(budget.mayPoll())
      for (let n = 1; n < 8; n++) yield* budget.turn
      yield* TestClock.adjust("1 second")
      t.notOk(budget.mayPoll(), "and leave room for others")
      let left = 0
      const look = Effect.andThen(
        budget.turn,
        Effect.sync(() => void left++)
      )
      const waiting = [yield* Effect.forkChild(look), yield* Effect.forkChild(look)]
      yield* TestClock.adjust("7 seconds")
      t.equal(left, 0)
      yield* TestClock.adjust("1500 millis")
      t.equal(left, 1, "the first one's room is free again")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting[1] ?? Effect.runFork(Effect.void))
      t.equal(left, 2)
    })
  )
)

t.test("a rate of calls that an operator has set raises the limit, and never lowers it", async (t) => {
  const documented = { most: 10, windowMillis: 10_000 }
  t.strictSame(limitFor(documented, 2), documented)
  t.strictSame(limitFor(documented, 2, 0.2), documented)
  t.strictSame(limitFor(documented, 2, 5), { ...documented, most: 100 }, "room for a request and a look")
})
