/**
 * What is specific to calls through Cloudonix beyond `cloudonixConformance.test.ts`: the adapter against an emulated Cloudonix over real sockets,
 * judged by what the callees saw. N2 and so on are the conformance cases of the carrier's reference.
 */
import { Effect } from "effect"
import t from "tap"
import { isHangup, isLook, isOrder } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { callIn, open, type World } from "./cloudonixWorld.ts"
import { eventually, newCallId, numberOf } from "./Line.ts"
import { OUR_NUMBER } from "./hosted.ts"

const ended = (world: World, to: string) => untilTrue("end", () => world.emulator.sessionsTo(to)[0]?.hasEnded() === true)

/** The events of a call, each once. */
const storyOf = ({ line }: World, callId: string) => [...new Set(line.story(callId))]

t.test("given calls that are reported in order", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world

  await t.test("N1: when a call is placed, then the request is as Cloudonix documents it", async (t) => {
    const { callId, to } = await hosted.originate(numberOf("011"))
    const [order] = emulator.orders()
    t.equal(order?.path, "/calls/acme.cloudonix.net/application")
    t.equal(order?.headers["authorization"], `Bearer ${emulator.apiKey}`)
    const cxml = `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${hosted.address("media", callId)}"/></Connect></Response>`
    const callback = hosted.address("session", callId)
    const expected = { destination: to, "caller-id": OUR_NUMBER, cxml, callback, timeout: 30, timeLimit: 660 }
    t.strictSame(JSON.parse(order?.body ?? ""), expected)
    await hosted.hangup(hosted.ref(callId))
  })

  await t.test("N4: when the callee answers and hangs up, then each step is reported once", async (t) => {
    const { callId, failure, to } = await hosted.originate(numberOf("001"))
    t.equal(failure, undefined)
    await ended(world, to)
    await emulator.callbacks.settled()
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
    t.strictSame(storyOf(world, callId), ["Named", "Placed", "Rang", "Answered", "EndClaimed", "HungUp normal_clearing"])
    const [session] = emulator.sessionsTo(to)
    t.equal(hosted.ref(callId).providerCallId, session?.token)
    const times = hosted.line.events(callId).flatMap((event) => ("at" in event ? [event.at] : []))
    t.strictSame([...new Set(times)], [session?.record().callAnswerTime, session?.record().callEndTime])
    const read = hosted.received.flatMap(({ callback: { call }, read }) => (call?.callId === callId ? [read?.deliveryId] : []))
    t.ok(read.length >= 12)
    t.equal(new Set(read).size, 5, "new, processing, ringing, connected, but none for the end, because a forged one must not look like it")
    t.strictSame([world.dials(to), world.asked(to)], [1, 1])
  })
})

t.test("given callees who are not reached, or an account without credit", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  const rung = await hosted.originate(numberOf("003"), { ringTimeoutSeconds: 0.5 })
  await ended(world, rung.to)
  await hosted.lookup(hosted.ref(rung.callId))
  t.equal(await hosted.line.hungUp(rung.callId), "no_answer", "N6: Cloudonix ends the call at the ring timeout")
  t.equal(emulator.log.of(rung.to).at(-1)?.by, "timeout")
  emulator.domain.hasCredit = false
  const { callId, to } = await hosted.originate(numberOf("001"))
  await ended(world, to)
  await hosted.lookup(hosted.ref(callId))
  t.equal(await hosted.line.hungUp(callId), "no_credit", "N6: nocredit")
  t.equal(world.dials(to), 0)
})

t.test("given callbacks in disorder", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  await t.test("when they come backwards and twice, then a look still finds the truth", async (t) => {
    emulator.callbacks.hold()
    emulator.callbacks.copies = 2
    const { callId, to } = await hosted.originate(numberOf("001"))
    await ended(world, to)
    emulator.callbacks.release("reversed")
    emulator.callbacks.copies = 1
    await emulator.callbacks.settled()
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
    t.strictSame(
      new Set(hosted.line.story(callId)),
      new Set(["Named", "EndClaimed", "Answered", "Rang", "Placed", "HungUp normal_clearing"])
    )
    t.equal(world.dials(to), 1)
  })
})

t.test("given the record of a call (CDR)", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  emulator.domain.recordUrl = hosted.address("cdr")
  emulator.domain.recordSays = "BUSY"
  const { callId, to } = await hosted.originate(numberOf("001"))
  await ended(world, to)
  await emulator.callbacks.settled()
  t.match(hosted.received.at(-1), { callback: { kind: "cdr" }, read: { events: [] }, status: 200 }, "N7: then it is not believed")
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  t.equal(await hosted.line.hungUp(callId), "normal_clearing", "N7: then the session decides")
})

t.test("N8: given callbacks that are lost", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  emulator.domain.hasCallbacks = false
  t.jobs = 3
  const ends = [
    ["is busy", "002", ["Named", "HungUp user_busy"]],
    ["has answered", "001", ["Named", "Answered", "HungUp normal_clearing"]]
  ] as const
  for (const [what, ending, story] of ends) {
    t.test(`when the callee ${what}, then the call is looked up after a while`, { buffered: true }, async (t) => {
      const { callId, to } = await hosted.originate(numberOf(ending))
      await hosted.line.event(callId, "HungUp")
      t.strictSame(hosted.line.story(callId), story)
      t.equal(world.dials(to), 1)
    })
  }
  t.test("when the session is not kept either, then the call has ended nevertheless", { buffered: true }, async (t) => {
    const { callId, to } = await hosted.originate(numberOf("002"))
    await ended(world, to)
    emulator.sessions.delete(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.line.hungUp(callId), "unknown")
    t.equal(hosted.line.story(callId).filter((word) => word.startsWith("HungUp")).length, 1)
  })
})

t.test("N9: given forged callbacks", async (t) => {
  const world = await open(t, {}, { authorization_api_key: "cx-static-key-1" })
  const { emulator, hosted } = world
  emulator.domain.staticKey = "cx-static-key-1"
  const { callId, token } = await callIn(world, "up")
  const other = await callIn(world, "up")
  const story = hosted.line.story(callId)
  const post = async (more: object, key: string | undefined = "cx-static-key-1", url = hosted.address("session", callId)) => {
    const body = JSON.stringify({ ...emulator.sessions.get(token())?.record(), ...more })
    const headers = { "content-type": "application/json", ...(key === "" ? {} : { "x-cx-apikey": key }) }
    return (await fetch(url, { method: "POST", body, headers })).status
  }
  t.equal(await post({ token: other.token() }), 403, "with another call's token")
  t.equal(await post({ domain: "other.cloudonix.net" }), 403, "of another domain")
  t.equal(await post({}, "cx-static-key-2"), 403, "with another key")
  t.equal(await post({}, ""), 403, "without the key")
  t.equal(await post({}, undefined, hosted.address("session", other.callId)), 403, "at another call's address")
  for (const status of ["completed", "busy", "failed"]) t.equal(await post({ status, callEndTime: Date.now() }), 200, `an end as ${status}`)
  t.strictSame(new Set(hosted.line.story(callId)), new Set([...story, "EndClaimed"]), "then the call continues")
  t.equal(await hosted.lookup(hosted.ref(callId)), "up")
})

t.test("given replies that prove nothing, then a call is in doubt and is not requested again", async (t) => {
  const world = await open(t)
  const replies: ReadonlyArray<readonly [what: string, acts: boolean, reply: { status: number; body?: unknown }]> = [
    ["gets 500 although it is placed", true, { status: 500, body: { message: "error" } }],
    ["gets 404 without a word", true, { status: 404 }],
    ["gets an error and 200", true, { status: 200, body: { error: "no route" } }],
    ["gets a number as its token", true, { status: 200, body: { token: 5 } }]
  ]
  for (const [what, acts, reply] of replies) {
    await t.test(`N12: when a request ${what}`, async (t) => {
      world.emulator.server.fail({ acts, reply }, isOrder)
      const { failure, to } = await world.hosted.originate(numberOf("002"))
      t.match(failure, { _tag: "OriginateDoubtful", status: reply.status })
      if (acts) await eventually("the callee's phone", () => world.dials(to) === 1)
      t.strictSame([world.dials(to), world.asked(to)], [acts ? 1 : 0, 1])
    })
  }
})

t.test("given requests that are refused, then nobody is called", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  const refused = (reason: string, more: object = {}) => ({ _tag: "OriginateRefused", reason, ...more })
  t.match((await hosted.originate("+99914155550101")).failure, refused("number_refused", { cause: "invalid_number_format" }))
  const byStatus = [
    [401, "auth_refused"],
    [402, "no_credit"],
    [404, "misconfigured"],
    [429, "rate_limited"]
  ] as const
  for (const [status, reason] of byStatus) {
    emulator.server.fail({ acts: false, reply: { status, body: { message: "No call to +15551234567" } } }, isOrder)
    const { failure, to } = await hosted.originate(numberOf("001"))
    t.match(failure, refused(reason), `N12: ${status}`)
    t.notMatch(JSON.stringify(failure), "5551234567")
    t.strictSame([world.dials(to), world.asked(to)], [0, 1])
  }
  const sent = emulator.orders().length
  t.match((await hosted.originate(numberOf("001"), { from: undefined })).failure, refused("misconfigured"), "N2: without a caller id")
  t.match((await hosted.originate("15551234567")).failure, refused("number_refused"))
  t.match((await hosted.originate(numberOf("001"), { leave: () => false })).failure, refused("permit_lapsed"))
  t.equal(emulator.orders().length, sent, "then nothing is sent")
})

t.test("given more requests than a domain may make", async (t) => {
  const world = await open(t, { requests: 10, windowMillis: 9_000 })
  const { emulator, hosted } = world
  const calls = await Promise.all([1, 2, 3].map(() => callIn(world, "up")))
  const looks = await Promise.all([...calls, ...calls, ...calls].map(({ ref }) => hosted.lookup(ref())))
  t.strictSame([...new Set(looks)], ["up"], "then looks wait for their turn, and none is refused")
  t.equal(emulator.server.requests.filter(isLook).length, 9)
  emulator.server.fail({ acts: false, reply: { status: 429, body: { message: "Too many requests" } } }, isOrder)
  const { failure } = await hosted.originate(numberOf("001"))
  t.match(failure, { reason: "rate_limited", retryAfterMillis: 10_000 }, "then the engine is told how long to wait")
})

t.test("given calls to hang up", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  for (const state of ["ringing", "up"] as const) {
    for (const status of [200, 204] as const) {
      await t.test(`N11: when it is ${state} and Cloudonix answers ${status}, then it ends`, async (t) => {
        emulator.hangupStatus = status
        const { callId, ref, to } = await callIn(world, state)
        t.equal(await hosted.hangup(ref()), undefined)
        t.equal(emulator.log.of(to).at(-1)?.by, "us")
        await hosted.line.event(callId, "HungUp")
        t.equal(hosted.line.story(callId).at(-1), state === "up" ? "HungUp normal_clearing" : "HungUp ring_timeout")
        t.equal(hosted.line.story(callId).includes("Answered"), state === "up")
      })
    }
  }
  await t.test("N11: when it has ended, then hanging up succeeds", async (t) => {
    const { ref } = await callIn(world, "ended")
    t.equal(await hosted.hangup(ref()), undefined, "of a session that Cloudonix keeps")
    emulator.forgetEnded()
    t.equal(await hosted.hangup(ref()), undefined, "of one that it no longer keeps")
  })
  await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
    const { ref } = await callIn(world, "up")
    const failed = { _tag: "ProviderError", operation: "hangup" }
    t.match(await hosted.hangup({ ...ref(), providerCallId: undefined }), failed, "without a token")
    t.match(await hosted.hangup({ ...ref(), providerCallId: "../dnids" }), failed, "with something that is not a token")
    for (const reply of ["reset", { status: 503 }, { status: 404, body: "<html></html>" }, { status: 302 }] as const) {
      emulator.server.fail({ acts: false, reply }, isHangup)
      t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
    }
    t.equal(await hosted.lookup(ref()), "up")
  })
})

t.test("given calls to look up", async (t) => {
  const world = await open(t)
  const { hosted } = world
  const looks = [
    ["ringing", "ringing", "ringing"],
    ["up", "up", "up"],
    ["ended", "ended", "gone"]
  ] as const
  for (const [state, byToken, byNumber] of looks) {
    await t.test(`when it is ${state}, then it is found by its token, and by its number while it is live`, async (t) => {
      const { ref } = await callIn(world, state)
      t.equal(await hosted.lookup(ref()), byToken)
      t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), byNumber)
    })
  }
  await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
    const { ref, to } = await callIn(world, "ringing")
    const { callId } = await hosted.originate(to)
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), "silent")
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined, sentAt: Date.now() - 86_400_000 }), "gone", "at another time")
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined, from: "+15550009999" }), "gone", "from another number")
    hosted.others.add(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), "ringing", "unless all but one are known to be other calls")
  })
  await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
    // A new emulator, because other calls would be looked up as well.
    const { emulator, hosted } = await open(t)
    const call = { ...hosted.ref(newCallId()), to: numberOf("001"), providerCallId: "0".repeat(32) }
    t.equal(await hosted.lookup(call), "gone")
    t.equal(await hosted.lookup({ ...call, providerCallId: undefined }), "gone")
    t.equal(await hosted.lookup({ ...call, providerCallId: undefined, to: undefined }), "silent", "unless its number is not known")
    for (const reply of [{ status: 200, body: "<html></html>" }, { status: 503 }, { status: 404 }, { status: 200, body: {} }] as const) {
      emulator.server.fail({ acts: false, reply }, isLook, 2)
      t.equal(await hosted.lookup(call), "silent", `${reply.status} by its token`)
      t.equal(await hosted.lookup({ ...call, providerCallId: undefined }), "silent", `${reply.status} by its number`)
    }
    emulator.server.fail({ acts: false, reply: { status: 404, body: { message: "Domain not found" } } }, isLook, 2)
    t.equal(await hosted.lookup(call), "silent", "when it is the domain that is not found")
  })
})

t.test("given a restart, when only the reference to a call is left", async (t) => {
  const world = await open(t)
  const { emulator, hosted } = world
  await t.test("and it is adopted, then its end is found", async (t) => {
    emulator.domain.hasCallbacks = false
    const { callId, to } = await hosted.originate(numberOf("011"))
    await hosted.restart()
    hosted.line.trunk.adopt(hosted.ref(callId))
    await untilTrue("answer", () => emulator.log.of(to).some(({ kind }) => kind === "answered"))
    for (const session of emulator.sessionsTo(to)) session.hangUp()
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
  })
})

t.test("the domain's numbers are listed", async (t) => {
  const { emulator, hosted } = await open(t, { numbers: [OUR_NUMBER.slice(1)] })
  const numbers = hosted.line.trunk.numbers ?? Effect.die("it cannot list them")
  t.strictSame(await Effect.runPromise(numbers), [OUR_NUMBER])
  emulator.server.fail({ acts: false, reply: { status: 200, body: "<html></html>" } }, () => true)
  t.match(await Effect.runPromise(Effect.flip(numbers)), { _tag: "ProviderError", operation: "numbers" })
})
