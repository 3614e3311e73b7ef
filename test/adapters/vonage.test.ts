/**
 * What is specific to calls through Vonage beyond `vonageConformance.test.ts`: the adapter against an emulated Vonage over real sockets. What the callees saw is the judge. `V2` and so on are
 * cases of its conformance list.
 */
import { Effect } from "effect"
import t from "tap"
import { hangsUp, placesCall } from "#test/emulators/vonage/VonageEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { numberOf } from "./Line.ts"
import { callIn, openWorld, storyOf } from "./vonageWorld.ts"

t.test("given calls that are reported in order", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  t.jobs = 4

  t.test(
    "V2, V5: when the callee answers and hangs up, then each step and the bill are reported, and the websocket's leg is not",
    { buffered: true },
    async (t) => {
      const { callId, failure, to } = await hosted.originate(numberOf("001"))
      t.equal(failure, undefined)
      await hosted.line.event(callId, "Billed")
      t.strictSame(storyOf(world, callId), ["Named", "Placed", "Rang", "Answered", "HungUp normal_clearing", "Billed"])
      const [call] = emulator.callsTo(to)
      t.equal(hosted.ref(callId).providerCallId, call?.uuid)
      const bill = call?.record()
      t.match(
        hosted.line.events(callId).filter(({ _tag }) => _tag === "Billed" || _tag === "HungUp"),
        [{ at: Date.parse(String(Reflect.get(bill ?? {}, "end_time"))) }, { amount: Reflect.get(bill ?? {}, "price"), currency: "EUR" }]
      )
      const toAddress = hosted.received.filter(({ callback }) => callback.call?.callId === callId)
      const legs = toAddress.filter(({ callback }) => Buffer.from(callback.body).includes('"to":"ws:'))
      t.equal(legs.length, 3, "the websocket's own start, answer and end came to the same address")
      t.ok(legs.every(({ read }) => read?.events.length === 0))
      t.strictSame([world.dials(to), world.asked(to)], [1, 1])
    }
  )
})

t.test("V3, V13: given other ends, each of them followed by a `completed`", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  emulator.telling.completesAll = true
  const endings = [
    ["failed", "cannot_route", "unallocated_number"],
    ["failed", "number_out_of_service", "unallocated_number"],
    ["failed", "internal_error", "temporary_failure"],
    ["rejected", "restricted", "facility_rejected"],
    ["unanswered", "timeout", "ring_timeout"],
    ["canceled", "", "ring_timeout"]
  ] as const
  for (const [status, detail, cause] of endings) {
    emulator.telling.ending = { status, ...(detail === "" ? {} : { detail }) }
    const { callId } = await hosted.originate(numberOf("002"))
    await hosted.line.event(callId, "Billed")
    t.strictSame(storyOf(world, callId).slice(2), [`HungUp ${cause}`, "HungUp normal_clearing", "Billed"], `${status} ${detail}`)
  }
})

t.test("V4: given machine detection", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const toldOf = async (ending: string, detect: "no" | "who" | "greetingEnd", last: "Answered" | "Detected" | "GreetingEnded") => {
    const { callId } = await hosted.originate(numberOf(ending), { detect })
    await hosted.line.event(callId, last)
    await hosted.hangup(hosted.ref(callId))
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
    return hosted.line.events(callId).flatMap((event) => {
      if (event._tag === "Detected") return [event.who]
      return event._tag === "GreetingEnded" ? ["greeting ended"] : []
    })
  }
  t.strictSame(await toldOf("004", "no", "Answered"), [], "when it is not requested, then nothing is detected")
  t.strictSame(await toldOf("004", "who", "Detected"), ["machine"], "then a machine is reported")
  t.strictSame(await toldOf("011", "who", "Detected"), ["human"], "then a human is reported")
  t.strictSame(
    [...new Set(await toldOf("004", "greetingEnd", "GreetingEnded"))],
    ["machine", "greeting ended"],
    "then the beep is reported"
  )
  const asked = emulator.dials().map(({ body }) => {
    const { advanced_machine_detection: advanced, machine_detection: plain } = JSON.parse(body)
    return advanced ?? plain
  })
  t.strictSame(asked, [undefined, "continue", "continue", { behavior: "continue", mode: "detect_beep", beep_timeout: 45 }])
})

t.test("given callbacks in disorder", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  await t.test("when they come backwards and twice, then the carrier's times show the order", async (t) => {
    emulator.callbacks.hold()
    emulator.callbacks.copies = 2
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => emulator.callsTo(to)[0]?.status === "completed")
    emulator.callbacks.release("reversed")
    emulator.callbacks.copies = 1
    await emulator.callbacks.settled()
    t.strictSame(storyOf(world, callId), ["Named", "Answered", "HungUp normal_clearing", "Billed", "Rang", "Placed"])
    const at = (tag: string) => hosted.line.events(callId).flatMap((event) => (event._tag === tag && "at" in event ? [event.at ?? 0] : []))
    t.ok(Math.min(...at("HungUp")) >= Math.max(...at("Answered")))
    t.equal(world.dials(to), 1)
  })
})

t.test("V6: given a webhook that Vonage signed", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { callId, to } = await callIn(world, "up")
  const address = hosted.address("event", callId)
  const post = async (body: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(address, { method: "POST", body, headers: { "content-type": "application/json", ...headers } })).status
  const ids = { from: "15550009000", to: to.slice(1), direction: "outbound" }
  const end = (more: object) => JSON.stringify({ ...ids, uuid: hosted.ref(callId).providerCallId, status: "completed", ...more })
  const body = end({})
  const story = hosted.line.story(callId)
  const { authorization = "" } = emulator.signature(body)
  t.equal(await post(body, { authorization: authorization.slice(0, -4) }), 403, "with another signature")
  t.equal(await post(body, { authorization: unsignedToken(authorization) }), 403, "with an algorithm that needs no key")
  t.strictSame(hosted.line.story(callId), story, "then nothing is reported")
  const send = (signed: string) => post(signed, emulator.signature(signed))
  t.equal(await send(end({ uuid: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" })), 200, "about another leg")
  t.equal(await send(end({ status: "constructor" })), 200, "with a status that does not exist")
  t.equal(await send("[]"), 200, "about no call")
  t.equal(await send("{"), 200, "that is not JSON")
  t.strictSame(hosted.line.story(callId), story, "then nothing is reported")
  t.equal(await send(body), 200)
  t.equal(hosted.line.story(callId).at(-1), "HungUp normal_clearing")
})

/** The same claims under `alg: none`. */
const unsignedToken = (authorization: string): string => {
  const [, claims = ""] = authorization.split(".")
  return `Bearer ${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${claims}.AA`
}

t.test("given calls to hang up", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world

  for (const state of ["started", "ringing", "up"] as const) {
    await t.test(`V12: when it is ${state}, then it ends, and hanging up again succeeds`, async (t) => {
      const { callId, ref, to } = await callIn(world, state)
      hosted.unwanted.add(callId)
      t.equal(await hosted.hangup(ref()), undefined)
      t.equal(await hosted.line.hungUp(callId), state === "up" ? "normal_clearing" : "originator_cancel")
      t.equal(emulator.log.of(to).at(-1)?.by, "us")
      t.equal(hosted.line.story(callId).includes("Answered"), state === "up")
      for (const status of [404, 400] as const) {
        emulator.endedStatus = status
        t.equal(await hosted.hangup(ref()), undefined, String(status))
      }
    })
  }
  await t.test("when Vonage has no trace of it, then hanging up succeeds as well", async (t) => {
    const { ref } = await callIn(world, "ended")
    emulator.calls.delete(ref().providerCallId ?? "")
    t.equal(await hosted.hangup(ref()), undefined)
  })
  await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
    const { callId, ref, to } = await callIn(world, "up")
    const failed = { _tag: "ProviderError", operation: "hangup" }
    t.match(await hosted.hangup({ ...ref(), providerCallId: undefined }), failed, "without Vonage's id")
    const notFound = { type: "NOT_FOUND", error_title: "Not Found" }
    const replies = [
      "reset",
      { status: 503 },
      { status: 404, body: "<html></html>" },
      { status: 404, body: notFound },
      { status: 400, body: { type: "BAD_REQUEST", error_title: "Bad Request" } },
      { status: 200, body: {} },
      { status: 200, body: "<html></html>" }
    ] as const
    for (const reply of replies) {
      emulator.server.fail({ acts: false, reply }, hangsUp)
      t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
    }
    t.equal(await hosted.lookup(ref()), "up")
    t.equal(emulator.log.of(to).at(-1)?.kind, "answered")
    t.equal(await hosted.hangup(ref()), undefined)
    await hosted.line.event(callId, "HungUp")
  })
})

t.test("given calls to look up", async (t) => {
  const world = await openWorld(t, { pageSize: 2 })
  const { emulator, hosted } = world
  const looks = [
    ["started", "ringing"],
    ["ringing", "ringing"],
    ["up", "up"],
    ["ended", "ended"]
  ] as const
  for (const [state, presence] of looks) {
    await t.test(`when it is ${state}, then it is found by its id, and by its number`, async (t) => {
      const { callId, ref, to } = await callIn(world, state)
      t.equal(await hosted.lookup(ref()), presence)
      t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), presence)
      const named = hosted.line.events(callId).findLast(({ _tag }) => _tag === "Named")
      t.match(named, { providerCallId: emulator.callsTo(to)[0]?.uuid })
      await hosted.hangup(ref())
    })
  }
  await t.test("when its callbacks are lost, then the look reports its end and its bill", async (t) => {
    emulator.callbacks.hold()
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => emulator.callsTo(to)[0]?.status === "completed")
    emulator.callbacks.lose()
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.strictSame(hosted.line.story(callId), ["Named", "Answered", "HungUp normal_clearing", "Billed"])
  })
  await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
    const { ref, to } = await callIn(world, "ended")
    const { callId } = await hosted.originate(to)
    const unnamed = { ...ref(), providerCallId: undefined }
    t.equal(await hosted.lookup(unnamed), "silent")
    t.equal(await hosted.lookup({ ...unnamed, sentAt: Date.now() + 86_400_000 }), "gone", "at another time there are none")
    t.equal(await hosted.lookup({ ...unnamed, from: "+15550009999" }), "gone", "from another number neither")
    hosted.others.add(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.lookup(unnamed), "ended", "unless all but one are known to be other calls")
  })
  await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
    emulator.server.fail({ acts: false, reply: "reset" }, placesCall)
    const { callId } = await hosted.originate(numberOf("001"))
    const named = { ...hosted.ref(callId), providerCallId: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" }
    t.equal(await hosted.lookup(hosted.ref(callId)), "gone")
    t.equal(await hosted.lookup(named), "gone")
    t.equal(await hosted.lookup({ ...hosted.ref(callId), to: undefined }), "silent", "unless its number is not known")
    const faults = [
      { status: 200, body: "<html></html>" },
      { status: 200, body: { uuid: named.providerCallId, status: "constructor" } },
      { status: 503 },
      { status: 404 },
      { status: 429, body: { type: "THROTTLED", error_title: "Rate Limit Hit" } }
    ] as const
    for (const reply of faults) {
      emulator.server.fail({ acts: false, reply }, ({ method }) => method === "GET", 2)
      t.equal(await hosted.lookup(named), "silent", `${reply.status} by its id`)
      t.equal(await hosted.lookup(hosted.ref(callId)), "silent", `${reply.status} by its number`)
    }
  })
})

t.test("given an answered call, then keys can be sent to the callee", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const press = (call: ReturnType<typeof hosted.ref>, digits: string) =>
    Effect.runPromise(Effect.result(hosted.line.trunk.sendDtmf?.(call, digits) ?? Effect.die("it cannot send keys")))
  const { ref } = await callIn(world, "up")
  t.match(await press(ref(), "12#"), { _tag: "Success" })
  t.equal(emulator.log.pressed(ref().providerCallId ?? ""), "12#")
  const failed = { _tag: "Failure", failure: { _tag: "ProviderError", operation: "sendDtmf" } }
  t.match(await press(ref(), "1p"), failed, "something that is not a key")
  t.match(await press({ ...ref(), providerCallId: undefined }, "1"), failed)
  emulator.server.fail({ acts: false, reply: { status: 200, body: "<html></html>" } }, ({ path }) => path.endsWith("/dtmf"))
  t.match(await press(ref(), "1"), failed)
  const ringing = await callIn(world, "ringing")
  t.match(await press(ringing.ref(), "1"), failed)
})
