/**
 * Calls through hosted carriers that accept no id of ours, over real sockets: what ends them, how they are found, and what stays in doubt. What the callees
 * saw is the judge. The conformance suite has what holds for every carrier.
 */
import { Effect } from "effect"
import t, { type Test } from "tap"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { errorOf as dialectError, placesDialectCall, redirectsDialectCall } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { placesCall as placesTwilioCall, redirectsCall } from "#test/emulators/twilio/TwilioEmulator.ts"
import { hangsUp, placesCall as placesVonageCall, transfersCall } from "#test/emulators/vonage/VonageEmulator.ts"
import { errorOf as vonageError } from "#test/emulators/vonage/VonageErrors.ts"
import { untilTrue } from "#test/support/until.ts"
import type { Hosted } from "./hosted.ts"
import { numberOf } from "./Line.ts"
import { callIn as plivoCallIn, type DialectWorld } from "./plivoDialect.ts"
import { openWorld as openPlivo } from "./plivoWorld.ts"
import { callIn as twilioCallIn, openWorld as openTwilio } from "./twilioWorld.ts"
import { openWorld as openVobiz } from "./vobizWorld.ts"
import { callIn as vonageCallIn, openWorld as openVonage } from "./vonageWorld.ts"

type State = "queued" | "started" | "ringing" | "up" | "ended"
type Fault = Parameters<CarrierServer["fail"]>[0]["reply"]

interface Carrier {
  readonly hosted: Hosted
  readonly log: CalleeLog
  readonly server: CarrierServer
  readonly sender: CallbackSender
  /** The states in which a call can be looked up, and what a look says. */
  readonly states: ReadonlyArray<readonly [State, string]>
  readonly callIn: (state: State) => Promise<{ readonly callId: CallRef["callId"]; readonly to: string; readonly ref: () => CallRef }>
  /** The carrier's id of the latest call to the number, and whether that has ended. */
  readonly idOf: (to: string) => string | undefined
  readonly hasEnded: (to: string) => boolean
  readonly forget: (id: string) => void
  readonly holdQueue: (on: boolean) => void
  /** When a call would have been sent that is not one of those now, in milliseconds from now. */
  readonly otherTimes: ReadonlyArray<number>
  /** What is reported of an end that only a look finds, from the call's name on. */
  readonly lost: readonly [ending: string, story: ReadonlyArray<string>]
  readonly places: (ask: CarrierAsk) => boolean
  readonly hangsUp: (ask: CarrierAsk) => boolean
  readonly transfers: (ask: CarrierAsk) => boolean
  /** An id as the carrier makes them, and texts that are none. */
  readonly anId: string
  readonly noIds: ReadonlyArray<string>
  /** What does not prove an end, a presence, or that a transfer was refused, besides what proves nothing in the reply of any carrier. */
  readonly noEnds: ReadonlyArray<Fault>
  readonly noLooks: ReadonlyArray<Fault>
  readonly noRefusals: ReadonlyArray<Fault>
  /** What does not prove that keys were sent. */
  readonly noKeys: ReadonlyArray<Fault>
  readonly refusesTransfer: Fault
}

const DAY_MILLIS = 86_400_000
const page = { status: 200, body: "<html></html>" }
const missing = { status: 404, body: "<html></html>" }
const aUuid = "00000000-0000-4000-8000-000000000000"

const ofDialect = async (world: DialectWorld, states: Carrier["states"]): Promise<Carrier> => {
  const { emulator, hosted } = world
  const { log, sender, server } = emulator
  const latest = (to: string) => emulator.callsTo(to)[0]
  return {
    hosted,
    log,
    sender,
    server,
    states,
    callIn: (state) => plivoCallIn(world, state === "started" ? "ringing" : state),
    idOf: (to) => latest(to)?.uuid,
    hasEnded: (to) => latest(to)?.endedAt !== undefined,
    forget: (id) => emulator.forget(id),
    holdQueue: (on) => emulator.holdQueue(on),
    otherTimes: [-DAY_MILLIS, DAY_MILLIS],
    lost: ["013", ["HungUp no_answer", "Billed"]],
    places: placesDialectCall,
    hangsUp: ({ method }) => method === "DELETE",
    transfers: redirectsDialectCall,
    anId: aUuid,
    noIds: ["", "../Number", "request:", "request:../x"],
    noEnds: [],
    noLooks: [],
    noRefusals: [
      { status: 200, body: { api_id: "a", error: "no" } },
      { status: 503, body: { api_id: "a", error: "no" } }
    ],
    // Plivo's dialect takes any success for proof that keys were sent.
    noKeys: [],
    refusesTransfer: dialectError(404, "call not found")
  }
}

const carriers: Readonly<Record<string, (t: Test) => Promise<Carrier>>> = {
  Plivo: async (t) =>
    ofDialect(
      await openPlivo(t),
      (["queued", "ringing", "up", "ended"] as const).map((state) => [state, state])
    ),
  Twilio: async (t) => {
    const world = await openTwilio(t)
    const { emulator, hosted } = world
    const { log, sender, server } = emulator
    return {
      hosted,
      log,
      sender,
      server,
      states: (["queued", "ringing", "up", "ended"] as const).map((state) => [state, state]),
      callIn: (state) => twilioCallIn(world, state === "started" ? "ringing" : state),
      idOf: (to) => emulator.callsTo(to)[0]?.sid,
      hasEnded: (to) => emulator.callsTo(to)[0]?.status === "completed",
      forget: (id) => emulator.forget(id),
      holdQueue: (on) => emulator.holdQueue(on),
      otherTimes: [-DAY_MILLIS, DAY_MILLIS],
      lost: ["001", ["Answered", "HungUp normal_clearing", "Billed"]],
      places: placesTwilioCall,
      hangsUp: ({ method, path }) => method === "POST" && path.includes("/Calls/CA"),
      transfers: redirectsCall,
      anId: `CA${"0".repeat(32)}`,
      noIds: ["../Recordings"],
      noEnds: [],
      noLooks: [],
      noRefusals: [],
      noKeys: [],
      refusesTransfer: { status: 404, body: { code: 20404, message: "not found", status: 404 } }
    }
  },
  Vobiz: async (t) =>
    ofDialect(
      await openVobiz(t),
      (["ringing", "up", "ended"] as const).map((state) => [state, state])
    ),
  Vonage: async (t) => {
    const world = await openVonage(t, { pageSize: 2 })
    const { emulator, hosted } = world
    const { callbacks: sender, log, server } = emulator
    return {
      hosted,
      log,
      sender,
      server,
      states: [
        ["started", "ringing"],
        ["ringing", "ringing"],
        ["up", "up"],
        ["ended", "ended"]
      ],
      callIn: (state) => vonageCallIn(world, state === "queued" ? "started" : state),
      idOf: (to) => emulator.callsTo(to)[0]?.uuid,
      hasEnded: (to) => emulator.callsTo(to)[0]?.status === "completed",
      forget: (id) => emulator.calls.delete(id),
      holdQueue: () => {},
      // Vonage is asked for all calls since then.
      otherTimes: [DAY_MILLIS],
      lost: ["001", ["Answered", "HungUp normal_clearing", "Billed"]],
      places: placesVonageCall,
      hangsUp,
      transfers: transfersCall,
      anId: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
      noIds: ["../applications"],
      noEnds: [
        { status: 404, body: { type: "NOT_FOUND", error_title: "Not Found" } },
        { status: 400, body: { type: "BAD_REQUEST", error_title: "Bad Request" } },
        page
      ],
      noLooks: [
        { status: 200, body: { uuid: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab", status: "constructor" } },
        { status: 429, body: { type: "THROTTLED", error_title: "Rate Limit Hit" } }
      ],
      noRefusals: [{ status: 503, body: {} }],
      noKeys: [page],
      refusesTransfer: vonageError(404, "not-found", undefined, false)
    }
  }
}

for (const [name, openCarrier] of Object.entries(carriers)) {
  t.test(`given calls through ${name} to hang up`, async (t) => {
    const { anId, callIn, forget, hangsUp, hosted, idOf, log, noEnds, noIds, server } = await openCarrier(t)
    await t.test("when the carrier has no trace of it, then hanging up succeeds", async (t) => {
      const { ref, to } = await callIn("ended")
      t.equal(await hosted.hangup(ref()), undefined)
      forget(idOf(to) ?? anId)
      t.equal(await hosted.hangup(ref()), undefined)
    })
    await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
      const { callId, ref, to } = await callIn("up")
      const failed = { _tag: "ProviderError", operation: "hangup" }
      for (const reply of ["reset", { status: 503 }, missing, { status: 200, body: {} }, ...noEnds] as const) {
        server.fail({ acts: false, reply }, hangsUp)
        t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
      }
      const { asked, live } = { asked: server.requests.length, live: log.live() }
      for (const providerCallId of [undefined, ...noIds])
        t.match(await hosted.hangup({ ...ref(), providerCallId, to: undefined }), { _tag: "ProviderError" }, `'${providerCallId}'`)
      t.equal(
        server.requests.filter(hangsUp).length,
        server.requests.slice(0, asked).filter(hangsUp).length,
        "then no request is sent without an id, because it would end all calls"
      )
      t.equal(log.live(), live)
      t.equal(await hosted.lookup(ref()), "up")
      t.equal(await hosted.hangup(ref()), undefined)
      await hosted.line.event(callId, "HungUp")
      t.equal(log.of(to).at(-1)?.by, "us")
    })
  })

  t.test(`given calls through ${name} to look up`, async (t) => {
    const { anId, callIn, hasEnded, holdQueue, hosted, idOf, lost, noLooks, otherTimes, places, sender, server, states } =
      await openCarrier(t)
    for (const [state, presence] of states) {
      await t.test(`when it is ${state}, then it is found by its id, and by its number`, async (t) => {
        const { callId, ref, to } = await callIn(state)
        t.equal(await hosted.lookup({ ...ref(), providerCallId: idOf(to) }), presence)
        t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), presence)
        const named = hosted.line.events(callId).findLast(({ _tag }) => _tag === "Named")
        t.match(named, { providerCallId: idOf(to) })
        await hosted.hangup(ref())
        holdQueue(false)
      })
    }
    await t.test("when its callbacks are lost, then the look reports its end, and what it cost", async (t) => {
      const [ending, story] = lost
      sender.hold()
      const { callId, to } = await hosted.originate(numberOf(ending))
      await untilTrue("end", () => hasEnded(to))
      sender.lose()
      t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
      t.strictSame(
        hosted.line.story(callId).filter((word) => word !== "Named"),
        story
      )
    })
    await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
      const { ref, to } = await callIn("ended")
      const { callId } = await hosted.originate(to)
      const unnamed = { ...ref(), providerCallId: undefined }
      await untilTrue("the second call", async () => (await hosted.lookup(unnamed)) === "silent")
      for (const millis of otherTimes)
        t.equal(await hosted.lookup({ ...unnamed, sentAt: Date.now() + millis }), "gone", "at another time there are none")
      t.equal(await hosted.lookup({ ...unnamed, from: "+15550009999" }), "gone", "from another number neither")
      await hosted.line.event(callId, "HungUp")
      hosted.others.add(hosted.ref(callId).providerCallId ?? "")
      t.equal(await hosted.lookup(unnamed), "ended", "unless all but one are known to be other calls")
    })
    await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
      server.fail({ acts: false, reply: "reset" }, places)
      const { callId } = await hosted.originate(numberOf("001"))
      const unnamed = hosted.ref(callId)
      const named = { ...unnamed, providerCallId: anId }
      t.equal(await hosted.lookup(unnamed), "gone")
      t.equal(await hosted.lookup(named), "gone")
      t.equal(await hosted.lookup({ ...unnamed, to: undefined }), "silent", "unless its number is not known")
      for (const reply of [page, { status: 503 }, { status: 404 }, ...noLooks]) {
        for (const ref of [named, unnamed]) {
          server.fail({ acts: false, reply }, ({ method }) => method === "GET")
          t.equal(await hosted.lookup(ref), "silent", `${JSON.stringify(reply)} by its ${ref === named ? "id" : "number"}`)
        }
      }
    })
  })

  t.test(`given an answered call through ${name}`, async (t) => {
    const { anId, callIn, hosted, idOf, log, noKeys, noRefusals, refusesTransfer, server, transfers } = await openCarrier(t)
    const { ref, to } = await callIn("up")
    await t.test("when the reply to a transfer does not say that it was refused, then it is in doubt", async (t) => {
      for (const [reply, failure] of [
        ...[page, missing, { status: 503 }, ...noRefusals].map((reply) => [reply, "TransferDoubtful"] as const),
        [refusesTransfer, "TransferRefused"] as const
      ]) {
        server.fail({ acts: false, reply }, transfers)
        t.match(await hosted.transfer(ref(), numberOf("011"), 2), { failure: { _tag: failure } }, JSON.stringify(reply))
      }
    })
    const { sendDtmf } = hosted.line.trunk
    t.equal(sendDtmf === undefined, name === "Twilio")
    if (sendDtmf === undefined) return
    await t.test("when keys are sent to the callee, then they arrive, and nothing else is sent", async (t) => {
      const press = (digits: string, more: Partial<CallRef> = {}) =>
        Effect.runPromise(Effect.result(sendDtmf({ ...ref(), ...more }, digits)))
      t.match(await press("12#"), { _tag: "Success" })
      t.equal(log.pressed(idOf(to) ?? ""), "12#")
      const failed = { _tag: "Failure", failure: { _tag: "ProviderError", operation: "sendDtmf" } }
      for (const digits of ["w;x", "1p"]) t.match(await press(digits), failed, "something that is not a key")
      for (const providerCallId of [undefined, anId]) t.match(await press("1", { providerCallId }), failed)
      for (const reply of noKeys) {
        server.fail({ acts: false, reply }, ({ method }) => method !== "GET")
        t.match(await press("1"), failed, JSON.stringify(reply))
      }
      t.match(await press("1", (await callIn("ringing")).ref()), failed, "before the callee has answered")
      t.equal(log.pressed(idOf(to) ?? ""), "12#")
    })
  })
}
