/** Trunks of both carriers of Plivo's dialect, calls in every state, and what both must do beyond the conformance suite. What the callees saw is the judge. */
import type { Test } from "tap"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { type DialectEmulator, type DialectOptions, placesDialectCall } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

export interface DialectWorld {
  readonly emulator: DialectEmulator
  readonly hosted: Hosted
  /** How often the number was called, and how often calls to it were requested. */
  readonly dials: (number: string) => number
  readonly asked: (number: string) => number
}
type OpenWorld = (t: Test, options?: Partial<DialectOptions>) => Promise<DialectWorld>

export const openDialect = async (t: Test, adapter: Adapter, emulator: DialectEmulator, config: object): Promise<DialectWorld> => {
  t.teardown(() => emulator.stop())
  const hosted = await Hosted.up(adapter, { ...config }, { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  const digitsAsked = ({ body }: CarrierAsk) => /"to":"(\d+)"/.exec(body)?.[1]
  return {
    emulator,
    hosted,
    dials: (number) => emulator.log.dialsByNumber().get(number) ?? 0,
    asked: (number) => emulator.server.requests.filter((ask) => placesDialectCall(ask) && `+${digitsAsked(ask)}` === number).length
  }
}

/** A call in this state. */
export const callIn = async (world: DialectWorld, state: "queued" | "ringing" | "up" | "ended") => {
  const { emulator, hosted } = world
  const to = numberOf({ queued: "011", ringing: "003", up: "011", ended: "002" }[state])
  emulator.holdQueue(state === "queued")
  const { callId } = await hosted.originate(to)
  const [call] = emulator.callsTo(to)
  if (call === undefined) throw new Error("the call was not placed")
  if (state === "ringing" || state === "up") await hosted.line.event(callId, state === "up" ? "Answered" : "Rang")
  if (state === "ended") {
    await untilTrue("end", () => call.endedAt !== undefined)
    await emulator.sender.settled()
  }
  return { callId, to, call, ref: () => hosted.ref(callId) }
}

/** `base`: the path of the account. `suffix`: what follows each address. `more`: what else is requested. */
export const places = async (t: Test, open: OpenWorld, base: string, suffix: string, more: object) => {
  const { emulator, hosted } = await open(t)
  const to = numberOf("011")
  const { callId } = await hosted.originate(to, { ringTimeoutSeconds: 29.5, maxDurationSeconds: 600, detect: "who" })
  const ask = emulator.server.requests.find(placesDialectCall)
  t.equal(ask?.path, `${base}/Call/`, "in upper and lower case, with a slash at its end")
  t.strictSame(JSON.parse(ask?.body ?? ""), {
    from: OUR_NUMBER.slice(1),
    to: to.slice(1),
    answer_url: hosted.address("answer", callId) + suffix,
    answer_method: "POST",
    ring_url: hosted.address("ring", callId) + suffix,
    ring_method: "POST",
    hangup_url: hosted.address("hangup", callId) + suffix,
    hangup_method: "POST",
    ring_timeout: 30,
    time_limit: 630,
    machine_detection: "true",
    machine_detection_url: hosted.address("machine", callId) + suffix,
    machine_detection_method: "POST",
    ...more
  })
  await hosted.originate(numberOf("002"), { ringTimeoutSeconds: 0.2, maxDurationSeconds: 86_400, detect: "greetingEnd" })
  await hosted.originate(numberOf("002"))
  const [, limited, plain] = emulator.server.requests.filter(placesDialectCall).map(({ body }) => JSON.parse(body))
  t.match(limited, { ring_timeout: 1, time_limit: 14_400, machine_detection: "true" })
  t.notOk("machine_detection" in plain, "then nothing is detected that was not requested")
  return ask?.headers
}

/** A record that appears later than the end proves nothing until then. */
export const findsLate = async (t: Test, open: OpenWorld): Promise<void> => {
  const late = await open(t, { recordMillis: 3_600_000 })
  const { ref } = await callIn(late, "ended")
  t.equal(await late.hosted.lookup(ref()), "gone")
  t.equal(await late.hosted.lookup({ ...ref(), providerCallId: undefined }), "gone")
}

/** `base`: the path of the account. `causes`: the causes that are reported for a busy destination. */
export const handsOver = async (t: Test, open: OpenWorld, base: string, causes: ReadonlyArray<string>): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  const { call, callId, ref } = await callIn(world, "up")
  const busy = numberOf("002")
  await t.test("when a callee is transferred, then the call is redirected to a document that dials", async (t) => {
    t.match(await hosted.transfer(ref(), busy, 1, 7), { _tag: "Success" })
    const { body = "{}", path } = emulator.server.requests.findLast(({ method }) => method === "POST") ?? {}
    t.equal(path, `${base}/Call/${call.uuid}/`)
    const { aleg_url, ...asked } = JSON.parse(body) as Readonly<Record<string, string>>
    t.strictSame(asked, { legs: "aleg", aleg_method: "POST" })
    const { hash } = new URL(aleg_url ?? "")
    await untilTrue("the next document", () => hosted.received.filter(({ callback }) => callback.kind === "transfer-a").length === 2)
    const [first, second] = hosted.received.filter(({ callback }) => callback.kind === "transfer-a")
    const [dial] = verbsOf(first?.read?.reply?.body ?? "") ?? []
    const address = hosted.address("transfer-a", callId)
    const action = address + hash
    const told = { callbackUrl: action, callbackMethod: "POST" }
    t.match(dial, { name: "Dial", children: [{ name: "Number", text: busy.slice(1) }] })
    t.strictSame(dial?.attributes, { action, method: "POST", ...told, callerId: OUR_NUMBER.slice(1), timeout: "7" })
    t.match(
      verbsOf(second?.read?.reply?.body ?? ""),
      [{ name: "Stream", text: hosted.address("media", callId) }],
      "then the callee comes back"
    )
    t.equal(world.dials(busy), 1)
    const outcomes = hosted.line.events(callId).filter(({ _tag }) => _tag === "Transferred")
    t.strictSame(
      outcomes,
      causes.map((cause) => ({ _tag: "Transferred", transfer: 1, answered: false, cause }))
    )
  })
  await t.test("when we have hung up, then nobody is dialed", async (t) => {
    hosted.unwanted.add(callId)
    const to = numberOf("011")
    await hosted.transfer(ref(), to, 3)
    await hosted.line.event(callId, "HungUp")
    t.equal(world.dials(to), 0)
  })
}
