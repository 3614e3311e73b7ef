/**
 * What proves that a request did not become a call, and what does not. Between the adapter and Asterisk there is an ingress that answers in
 * Asterisk's place. The callee's log is the judge.
 */
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import { AriDoubt } from "#adapters/ari/AriDoubt.ts"
import { nobody } from "#adapters/ari/Asterisk.ts"
import type { CallId } from "#core/Id.ts"
import type { AriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { type Fate, fates, type ProxyAnswer } from "#test/support/HttpProxy.ts"
import { refTo } from "#test/support/refTo.ts"
import { type Line, newCallId, numberOf } from "./Line.ts"
import { throughProxy } from "./throughProxy.ts"

t.jobs = 8

interface Scene {
  readonly emulator: AriEmulator
  readonly line: Line
  /** Sets what happens to the next originate. */
  readonly befall: (fate: Fate) => void
  /** Sets what happens to all requests from now on. */
  readonly befallAll: (fate: Fate) => void
}
const given = (name: string, test: (t: Test, scene: Scene) => Promise<void>) =>
  t.test(`given an Asterisk behind an ingress, ${name}`, { buffered: true }, (t) =>
    throughProxy({ timeScale: 0.2 }, ({ emulator, line, proxy }) => {
      const befall = (fate: Fate) => proxy.befall(fate, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), 1)
      const befallAll = (fate: Fate) => proxy.befall(fate, () => true)
      return test(t, { befall, befallAll, emulator, line })
    })
  )

/** A time after which a broken connection might be taken for proof. */
const LATE_MILLIS = 6_000
const lateFates: ReadonlyArray<readonly [what: string, fate: (later: Promise<void>) => Fate, failure: object]> = [
  ...[503, 504, 429, 403, 404].map(
    (status) => [String(status), (later: Promise<void>) => fates.errorThenForwarded(status, later), { status }] as const
  ),
  ["with a reset", fates.resetThenForwarded, { detail: "ECONNRESET" }]
]
for (const [what, fate, failure] of lateFates) {
  given(
    `when it answers ${what} and forwards the request later, then it is doubtful, never "never placed", and the call is followed`,
    async (t, scene) => {
      const { befall, emulator, line } = scene
      const { promise: later, resolve: forward } = Promise.withResolvers<void>()
      befall(fate(later))
      const { callId, failure: said, to } = await line.originate(numberOf("001"))
      t.match(said, { _tag: "OriginateDoubtful", ...failure })
      await sleep(LATE_MILLIS)
      t.equal(await line.lookup(callId), "gone")
      forward()
      t.equal(await line.hungUp(callId), "normal_clearing")
      t.match(line.story(callId), ["Rang", "Answered", "HungUp normal_clearing"])
      t.equal(emulator.log.dialsByNumber().get(to), 1)
    }
  )
}

given(
  "when Asterisk has just been restarted, then a call that it takes before the events are back is followed to its end",
  async (t, scene) => {
    const { emulator, line } = scene
    emulator.letRing(true)
    emulator.crash()
    const { callId } = await line.originate(numberOf("001"))
    t.equal(emulator.log.of(callId)[0]?.kind, "originate")
    await line.status("Up")
    emulator.letRing(false)
    t.equal(await line.hungUp(callId), "normal_clearing")
    t.match(line.story(callId), ["Rang", "Answered", "HungUp normal_clearing"])
  }
)

given("when it says how long to wait, then that is reported", async (t, { befall, line }) => {
  befall(fates.error(503, { "retry-after": "7" }))
  t.match((await line.originate(numberOf("001"))).failure, { _tag: "OriginateDoubtful", status: 503, retryAfterMillis: 7_000 })
  const date = new Date(Date.UTC(2026, 0, 1, 12, 0, 0))
  befall(fates.error(429, { date: date.toUTCString(), "retry-after": new Date(date.getTime() + 90_000).toUTCString() }))
  t.match((await line.originate(numberOf("001"))).failure, { _tag: "OriginateDoubtful", status: 429, retryAfterMillis: 90_000 })
  befall(fates.error(503, { "retry-after": "soon" }))
  t.notOk("retryAfterMillis" in ((await line.originate(numberOf("001"))).failure ?? {}))
})

given("when an answer could be Asterisk's, then only one with its name and its message is a refusal", async (t, { befall, line }) => {
  const json = JSON.stringify({ message: "No" })
  const check = async (expected: object | undefined, reply: ProxyAnswer) => {
    befall({ name: "made up", forward: "never", reply })
    const { callId, failure } = await line.originate(numberOf("011"))
    t.match(failure, expected ?? { _tag: "OriginateDoubtful", status: reply.status }, JSON.stringify(reply))
    t.equal(await line.lookup(callId), "gone")
  }
  const said = (status: number, server: string | undefined, body: string) => ({
    status,
    body,
    headers: { "content-type": "application/json", ...(server === undefined ? {} : { server }) }
  })
  const asterisk = (status: number, body = json) => said(status, "Asterisk/22.10.1", body)
  await check({ _tag: "OriginateRefused", reason: "auth_refused" }, asterisk(401))
  await check({ _tag: "OriginateRefused", reason: "auth_refused" }, asterisk(403))
  await check({ _tag: "OriginateRefused", reason: "unexplained" }, asterisk(400))
  await check({ _tag: "OriginateRefused", reason: "unexplained" }, asterisk(404))
  await check({ _tag: "OriginateRefused", reason: "rate_limited", retryAfterMillis: 1000 }, asterisk(429))
  const patient = { ...asterisk(429), headers: { ...asterisk(429).headers, "retry-after": "7" } }
  await check({ _tag: "OriginateRefused", reason: "rate_limited", retryAfterMillis: 7000 }, patient)
  const noChannel = { _tag: "OriginateRefused", reason: "unreachable", detail: /Allocation failed PJSIP\/\{number\}@trunk/ }
  await check(noChannel, asterisk(500, '{"error":"Allocation failed"}'))
  for (const status of [400, 401, 403, 404, 409, 422, 429, 500]) {
    await check(undefined, said(status, "nginx", json))
    await check(undefined, said(status, undefined, json))
    await check(undefined, said(status, "Asterisk/22.10.1", "<h1>No</h1>"))
  }
  await check(undefined, said(500, "nginx", '{"error":"Allocation failed"}'))
  for (const status of [301, 500, 502, 503, 504]) await check(undefined, asterisk(status))
  await check(undefined, said(200, "nginx", "<h1>Welcome</h1>"))
  await check(undefined, said(200, "Asterisk/22.10.1", '{"id":"another"}'))
})

given("when a refusal comes late, then it still proves that there was no call", async (t, { befall, emulator, line }) => {
  emulator.setResponseFault("allocation-failed", 1)
  befall(fates.hold(15_500))
  const { callId, failure } = await line.originate(numberOf("011"))
  t.match(failure, { _tag: "OriginateDoubtful", detail: "no reply in time" })
  t.equal(await line.lookup(callId), "gone")
  while ((await line.lookup(callId)) === "gone") await sleep(50)
  t.equal(await line.lookup(callId), "never_placed")
})

given(
  "when a request gets no answer and no other follows, then the doubt ends nevertheless, and nobody is called for that",
  async (t, { befall, emulator, line }) => {
    const ringTimeoutSeconds = 1
    befall(fates.swallow)
    const { callId, failure } = await line.originate(numberOf("001"))
    t.match(failure, { _tag: "OriginateDoubtful" })
    const left = Date.now()
    // Asked each second, as the engine does: first about its own call, and after a restart about one that an earlier process sent.
    const mayAppear = (id: CallId) => line.trunk.mayAppear?.({ ageMillis: Date.now() - left, call: refTo(id), ringTimeoutSeconds })
    t.equal(mayAppear(callId), true)
    while (mayAppear(callId) !== false || mayAppear(newCallId()) !== false) {
      // Without proof, the doubt would end only after ten minutes.
      if (Date.now() > left + 540_000) throw new Error("still in doubt after nine minutes")
      await sleep(1_000)
    }
    t.ok(Date.now() > left + 30_000, "but not before Asterisk has had time to recover from a delay")
    t.equal(emulator.log.entries.length, 0, "nobody was called")
  }
)

t.test(
  "given an Asterisk with the reserved endpoint, when a request to it is to end a doubt, then its channel is hung up",
  { buffered: true },
  (t) =>
    // The trunks are the one for calls and that endpoint.
    throughProxy({ ringMillis: 600_000, trunks: ["trunk", nobody] }, async ({ emulator, line, proxy }) => {
      proxy.befall(fates.swallow, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), 1)
      const { callId } = await line.originate(numberOf("001"))
      const left = Date.now()
      const ended = () => emulator.log.entries.find(({ kind }) => kind === "ended")
      while (ended() === undefined) {
        line.trunk.mayAppear?.({ ageMillis: Date.now() - left, call: refTo(callId), ringTimeoutSeconds: 1 })
        await sleep(1_000)
      }
      t.match(ended(), { by: "us", number: nobody })
      t.equal(emulator.live(), 0)
      t.equal(
        line.trunk.mayAppear?.({ ageMillis: Date.now() - left, call: refTo(callId), ringTimeoutSeconds: 1 }),
        true,
        "and the doubt is not over"
      )
    })
)

given("when the ingress has lost its way to Asterisk, then its 404 ends no call", async (t, { befallAll, emulator, line }) => {
  const callId = await line.talkTo(numberOf("011"))
  befallAll(fates.error(404))
  t.match(await line.lookup(callId).catch((error: unknown) => error), { _tag: "ProviderError" })
  t.match(await line.hangup(callId).catch((error: unknown) => error), { _tag: "ProviderError" })
  befallAll(fates.pass)
  t.equal(await line.lookup(callId), "up")
  t.equal(emulator.live(), 1)
})

t.test("given a request without an answer, then the doubt ends", async (t) => {
  const ring = 45
  const end = (ring + 30) * 1000
  const check = (name: string, expected: boolean, leftAt: number, now: number, arrange: (doubt: AriDoubt) => void) => {
    const doubt = new AriDoubt()
    doubt.started("a", 0)
    arrange(doubt)
    t.equal(doubt.mayAppear(leftAt, ring, now), expected, name)
  }
  check("not by time alone", true, 1_000, 599_000, () => {})
  check("when a later request was answered as long ago as a phone may ring", false, 1_000, 2_000 + end, (doubt) =>
    doubt.answered(1_500, 2_000)
  )
  check("not a moment sooner", true, 1_000, 1_999 + end, (doubt) => doubt.answered(1_500, 2_000))
  check("not when an earlier request was", true, 1_000, 2_000 + end, (doubt) => doubt.answered(900, 2_000))
  check("when the later one was answered first", false, 1_000, 2_100 + end, (doubt) => {
    doubt.answered(1_500, 2_000)
    doubt.answered(900, 2_100)
  })
  check("when many were answered since", false, 1_000, 400_000, (doubt) => {
    for (let at = 2_000; at < 400_000; at += 50) doubt.answered(at - 10, at)
  })
  check("not when Asterisk was restarted since, because something on the way may hold the request", true, 1_000, 599_000, (doubt) =>
    doubt.started("b", 2_500)
  )
  const short = (now: number) => {
    const doubt = new AriDoubt()
    doubt.answered(1_500, 2_000)
    return doubt.mayAppear(1_000, 1, now)
  }
  t.strictSame([short(60_999), short(61_000)], [true, false], "not while a proxy may hold it, however short the ring timeout is")
})

t.test("given a request without an answer, then a later one is sent as proof", async (t) => {
  const check = (name: string, expected: boolean, now: number, arrange: (doubt: AriDoubt) => void) => {
    const doubt = new AriDoubt()
    doubt.started("a", 0)
    doubt.left(1_000)
    arrange(doubt)
    t.equal(doubt.needsOvertaking(1_000, now, 65_000), expected, name)
  }
  check("not at once, because a call may follow", false, 65_999, () => {})
  check("when none follows", true, 66_000, () => {})
  check("not when one was answered", false, 600_000, (doubt) => doubt.answered(2_000, 2_100))
  check("at once when Asterisk was restarted", true, 2_501, (doubt) => doubt.started("b", 2_500))
  check("not when it is the same", false, 2_501, (doubt) => doubt.started("a", 2_500))
  check("not when one has left since the restart", false, 3_000, (doubt) => {
    doubt.started("b", 2_500)
    doubt.left(2_600)
  })
  check("not while Asterisk asks for none", false, 2_501, (doubt) => {
    doubt.started("b", 2_500)
    doubt.restUntil(5_000)
  })
})
