/**
 * What holds for calls through hosted carriers that accept no id of ours, over real sockets: what ends them, how they are found, and what stays in doubt.
 * What the callees saw is the judge. The conformance suite has what holds for every carrier.
 */
import { Effect } from "effect"
import t from "tap"
import type { CallRef } from "#core/provider/CallRef.ts"
import { type CarrierName, carrierOf } from "#test/emulators/hostedCarriers.ts"
import type { CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { untilTrue } from "#test/support/until.ts"
import { openCarrier, type State } from "./hostedScene.ts"
import { numberOf } from "./Line.ts"

type Fault = Parameters<CarrierServer["fail"]>[0]["reply"]
type Presence = "queued" | "ringing" | "up" | "ended" | "gone"

export interface CallRules {
  /** The states in which a call can be looked up, and what a look by its id says, and one by its number. */
  readonly states: ReadonlyArray<readonly [State, byId: Presence, byNumber?: Presence]>
  /** False: a call is found by an id of ours, whatever its number. */
  readonly isFoundByNumber?: false
  /** What a look says of a call that cannot be told from another one that has ended. */
  readonly otherwise?: Presence
  /** When a call would have been sent that is not one of those now, in milliseconds from now. */
  readonly otherTimes: ReadonlyArray<number>
  /** False: a call of which the carrier has no trace may still be up. */
  readonly isOverWithoutTrace?: false
  /** An id as the carrier makes them, and texts that are none. */
  readonly anId: string
  readonly noIds: ReadonlyArray<string>
  /** What does not prove an end, a presence, or that a transfer was refused, besides what proves nothing in the reply of any carrier. */
  readonly noEnds: ReadonlyArray<Fault>
  readonly noLooks: ReadonlyArray<Fault>
  readonly noRefusals: ReadonlyArray<Fault>
  /** What does not prove that keys were sent. Undefined: the carrier sends none. */
  readonly noKeys?: ReadonlyArray<Fault>
  readonly refusesTransfer: Fault
}

export const DAY_MILLIS = 86_400_000
export const page = { status: 200, body: "<html></html>" }
export const nothing = { status: 200, body: {} }
const missing = { status: 404, body: "<html></html>" }

export const holdForCalls = (name: CarrierName, rules: CallRules): void => {
  const { title } = carrierOf(name)
  hangUps(name, title, rules)
  looks(name, title, rules)
  transfersAndKeys(name, title, rules)
}

const hangUps = (name: CarrierName, title: string, { isOverWithoutTrace, noEnds, noIds }: CallRules): void => {
  t.test(`given calls through ${title} to hang up`, async (t) => {
    const { callIn, emulator, hosted } = await openCarrier(t, name)
    const { hangsUp, log, server } = emulator
    const failed = { _tag: "ProviderError", operation: "hangup" }
    await t.test("when it has ended, or the carrier has no trace of it, then hanging up succeeds if that proves an end", async (t) => {
      const { id, ref } = await callIn("ended")
      t.equal(await hosted.hangup(ref()), undefined)
      emulator.forget(id)
      t.match(await hosted.hangup(ref()), isOverWithoutTrace === false ? failed : undefined)
    })
    await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
      const { callId, ref, to } = await callIn("up")
      for (const reply of ["reset", { status: 503 }, missing, ...noEnds] as const) {
        server.fail({ acts: false, reply }, hangsUp)
        t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
      }
      const { asked, live } = { asked: server.requests.filter(hangsUp).length, live: log.live() }
      for (const providerCallId of [undefined, ...noIds])
        t.match(await hosted.hangup({ ...ref(), providerCallId, to: undefined }), { _tag: "ProviderError" }, `'${providerCallId}'`)
      t.equal(server.requests.filter(hangsUp).length, asked, "then no request is sent without an id, because it would end all calls")
      t.equal(log.live(), live)
      t.equal(await hosted.lookup(ref()), "up")
      t.equal(await hosted.hangup(ref()), undefined)
      await hosted.line.event(callId, "HungUp")
      t.equal(log.of(to).at(-1)?.by, "us")
    })
  })
}

const looks = (name: CarrierName, title: string, rules: CallRules): void => {
  const { anId, isFoundByNumber, noLooks, otherTimes, otherwise = "ended", states } = rules
  t.test(`given calls through ${title} to look up`, async (t) => {
    const { callIn, emulator, hosted } = await openCarrier(t, name)
    const { places, server } = emulator
    for (const [state, byId, byNumber = byId] of states) {
      await t.test(`when it is ${state}, then it is found by its id, and by its number`, async (t) => {
        const { callId, id, ref } = await callIn(state)
        t.equal(await hosted.lookup({ ...ref(), providerCallId: id }), byId)
        t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), byNumber)
        const named = hosted.line.events(callId).filter(({ _tag }) => _tag === "Named")
        if (byNumber !== "gone") t.match(named.at(-1), { providerCallId: id })
        await hosted.hangup(ref())
        emulator.holdQueue?.(false)
      })
    }
    if (isFoundByNumber !== false)
      await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
        const { ref, to } = await callIn(otherwise === "ended" ? "ended" : "ringing")
        const { callId } = await hosted.originate(to)
        const unnamed = { ...ref(), providerCallId: undefined }
        await untilTrue("the second call", async () => (await hosted.lookup(unnamed)) === "silent")
        for (const millis of otherTimes)
          t.equal(await hosted.lookup({ ...unnamed, sentAt: Date.now() + millis }), "gone", "at another time there are none")
        t.equal(await hosted.lookup({ ...unnamed, from: "+15550009999" }), "gone", "from another number neither")
        if (otherwise === "ended") await hosted.line.event(callId, "HungUp")
        hosted.others.add(hosted.ref(callId).providerCallId ?? "")
        t.equal(await hosted.lookup(unnamed), otherwise, "unless all but one are known to be other calls")
      })
    await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
      server.fail({ acts: false, reply: "reset" }, places)
      const { callId } = await hosted.originate(numberOf("001"))
      const unnamed = hosted.ref(callId)
      const named = { ...unnamed, providerCallId: anId }
      t.equal(await hosted.lookup(unnamed), "gone")
      t.equal(await hosted.lookup(named), "gone")
      if (isFoundByNumber !== false) t.equal(await hosted.lookup({ ...unnamed, to: undefined }), "silent", "unless its number is not known")
      for (const reply of [page, { status: 503 }, { status: 404 }, ...noLooks]) {
        for (const ref of [named, unnamed]) {
          server.fail({ acts: false, reply }, ({ method }) => method === "GET")
          t.equal(await hosted.lookup(ref), "silent", `${JSON.stringify(reply)} by its ${ref === named ? "id" : "number"}`)
        }
      }
    })
  })
}

const transfersAndKeys = (name: CarrierName, title: string, { anId, noKeys, noRefusals, refusesTransfer }: CallRules): void => {
  t.test(`given an answered call through ${title}`, async (t) => {
    const { callIn, emulator, hosted } = await openCarrier(t, name)
    const { log, server, transfers } = emulator
    const { id, ref } = await callIn("up")
    await t.test("when the reply to a transfer does not say that it was refused, then it is in doubt", async (t) => {
      for (const [reply, failure] of [
        ...[missing, { status: 503 }, ...noRefusals].map((reply) => [reply, "TransferDoubtful"] as const),
        [refusesTransfer, "TransferRefused"] as const
      ]) {
        server.fail({ acts: false, reply }, transfers)
        t.match(await hosted.transfer(ref(), numberOf("011"), 2), { failure: { _tag: failure } }, JSON.stringify(reply))
      }
    })
    const { sendDtmf } = hosted.line.trunk
    t.equal(sendDtmf === undefined, noKeys === undefined)
    if (sendDtmf === undefined || noKeys === undefined) return
    await t.test("when keys are sent to the callee, then they arrive, and nothing else is sent", async (t) => {
      const press = (digits: string, more: Partial<CallRef> = {}) =>
        Effect.runPromise(Effect.result(sendDtmf({ ...ref(), ...more }, digits)))
      t.match(await press("12#"), { _tag: "Success" })
      t.equal(log.pressed(id), "12#")
      const failed = { _tag: "Failure", failure: { _tag: "ProviderError", operation: "sendDtmf" } }
      for (const digits of ["w;x", "1p"]) t.match(await press(digits), failed, "something that is not a key")
      for (const providerCallId of [undefined, anId]) t.match(await press("1", { providerCallId }), failed)
      for (const reply of noKeys) {
        server.fail({ acts: false, reply }, ({ method }) => method !== "GET")
        t.match(await press("1"), failed, JSON.stringify(reply))
      }
      t.match(await press("1", (await callIn("ringing")).ref()), failed, "before the callee has answered")
      t.equal(log.pressed(id), "12#")
    })
  })
}
