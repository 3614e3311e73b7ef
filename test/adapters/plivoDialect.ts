/** What both carriers of Plivo's dialect must do beyond the conformance suite. What the callees saw is the judge. The names of cases are those of each carrier's list. */
import { Effect } from "effect"
import type { Test } from "tap"
import type { CallId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import type { DialectEmulator, DialectOptions } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

interface DialectWorld {
  readonly emulator: DialectEmulator
  readonly hosted: Hosted
  /** How often the number was called, and how often calls to it were requested. */
  readonly dials: (number: string) => number
  readonly asked: (number: string) => number
}
type OpenWorld = (t: Test, options?: Partial<DialectOptions>) => Promise<DialectWorld>

export const placesCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && path.endsWith("/Call/")
const isHangup = ({ method }: CarrierAsk): boolean => method === "DELETE"
const isLook = ({ method, path }: CarrierAsk): boolean => method === "GET" && /\/(Call|cdr)\b/.test(path)

export const openDialect = async (t: Test, adapter: Adapter, emulator: DialectEmulator, config: object): Promise<DialectWorld> => {
  t.teardown(() => emulator.stop())
  const hosted = await Hosted.up(adapter, { ...config }, { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  const digitsAsked = ({ body }: CarrierAsk) => /"to":"(\d+)"/.exec(body)?.[1]
  return {
    emulator,
    hosted,
    dials: (number) => emulator.log.dialsByNumber().get(number) ?? 0,
    asked: (number) => emulator.server.requests.filter((ask) => placesCall(ask) && `+${digitsAsked(ask)}` === number).length
  }
}

/** The events of a call, each once. */
export const storyOf = ({ hosted }: DialectWorld, callId: CallId): ReadonlyArray<string> => [...new Set(hosted.line.story(callId))]

const isRecord = (call: { readonly endedAt: number | undefined } | undefined): boolean => call?.endedAt !== undefined

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
    await untilTrue("end", () => isRecord(call))
    await emulator.sender.settled()
  }
  return { callId, to, call, ref: () => hosted.ref(callId) }
}

export const tellsCalls = async (t: Test, open: OpenWorld, name: string): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  t.jobs = 4
  t.test(`${name}: when the callee answers and hangs up, then each step is reported`, { buffered: true }, async (t) => {
    const { callId, failure, to } = await hosted.originate(numberOf("001"))
    t.equal(failure, undefined)
    await hosted.line.event(callId, "HungUp")
    t.strictSame(
      storyOf(world, callId).filter((word) => !["Named", "Billed", "EndClaimed"].includes(word)),
      ["Rang", "Answered", "HungUp normal_clearing"]
    )
    t.equal(hosted.ref(callId).providerCallId, emulator.callsTo(to)[0]?.uuid, "then the call's own id is known")
    t.strictSame([world.dials(to), world.asked(to)], [1, 1])
    t.equal(emulator.log.of(to).at(-1)?.by, "callee")
  })
  t.test("when the call reaches its maximum duration, then the carrier ends it", { buffered: true }, async (t) => {
    const fast = await open(t, { timeScale: 0.01 })
    const { callId, to } = await fast.hosted.originate(numberOf("011"), { maxDurationSeconds: 1 })
    t.equal(await fast.hosted.line.hungUp(callId), "duration_exceeded")
    t.equal(fast.emulator.log.of(to).at(-1)?.by, "timeout")
  })
}

export const detectsMachines = async (t: Test, open: OpenWorld, name: string): Promise<void> => {
  const world = await open(t)
  const { hosted } = world
  const detectedOf = async (ending: string, detect: "no" | "who" | "greetingEnd") => {
    const { callId } = await hosted.originate(numberOf(ending), { detect })
    if (detect === "no") await hosted.line.event(callId, "Answered")
    else await hosted.line.event(callId, "Detected")
    t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
    await hosted.line.event(callId, "HungUp")
    return hosted.line.events(callId).flatMap((event) => (event._tag === "Detected" ? [event.who] : []))
  }
  t.strictSame(await detectedOf("004", "who"), ["machine"], `${name}: then a machine is reported`)
  t.strictSame(await detectedOf("011", "greetingEnd"), ["human"], "then a human is reported")
  t.strictSame(await detectedOf("004", "no"), [], "then nothing is reported that was not requested")
  t.strictSame(
    world.emulator.server.requests.filter(placesCall).map(({ body }) => body.includes("machine_detection")),
    [true, true, false]
  )
}

export const survivesDisorder = async (t: Test, open: OpenWorld, repeated: string): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  const about = (callId: CallId) => hosted.received.filter(({ callback }) => callback.call?.callId === callId)

  await t.test("when the engine cannot accept one, then the carrier sends it again", async (t) => {
    hosted.failures = 1
    const { callId } = await hosted.originate(numberOf("002"))
    t.equal(await hosted.line.hungUp(callId), "user_busy")
    await emulator.sender.settled()
    t.strictSame(
      emulator.sender.deliveries.flatMap(({ status, url }) => (url.includes(callId) ? [status] : [])),
      [503, 200]
    )
  })
  await t.test(`${repeated}: when a delivery is repeated, then its bytes are the same and nothing new is reported`, async (t) => {
    emulator.sender.copies = 2
    const { callId } = await hosted.originate(numberOf("002"))
    await hosted.line.event(callId, "HungUp")
    emulator.sender.copies = 1
    await emulator.sender.settled()
    const [first, second] = about(callId)
    t.equal(Buffer.from(first?.callback.body ?? "").toString(), Buffer.from(second?.callback.body ?? "").toString())
    t.strictSame([first?.read?.nonce, first?.read?.deliveryId], [second?.read?.nonce, second?.read?.deliveryId])
    t.ok(storyOf(world, callId).includes("HungUp user_busy"))
  })
}

export const doubtsReplies = async (t: Test, open: OpenWorld): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  const error = { api_id: "a", error: "not now" }
  const request_uuid = 5
  const replies: ReadonlyArray<readonly [what: string, acts: boolean, reply: { status: number; body?: unknown }]> = [
    ["gets 500 although it is placed", true, { status: 500, body: error }],
    ["gets 418", true, { status: 418, body: error }],
    ["gets an error and 200", true, { status: 200, body: { ...error, request_uuid: "0123456789" } }],
    ["gets a number as its id", true, { status: 201, body: { request_uuid } }],
    ["gets a path as its id", true, { status: 201, body: { request_uuid: "../../Number/1" } }],
    ["gets two ids", true, { status: 201, body: { request_uuid: ["0123456789", "1123456789"] } }]
  ]
  for (const [what, acts, reply] of replies) {
    await t.test(`when a request ${what}, then it is in doubt and not repeated`, async (t) => {
      emulator.server.fail({ acts, reply }, placesCall)
      const { failure, to } = await hosted.originate(numberOf("002"))
      t.match(failure, { _tag: "OriginateDoubtful", status: reply.status })
      if (acts) await untilTrue("ring", () => world.dials(to) === 1)
      t.strictSame([world.dials(to), world.asked(to)], [acts ? 1 : 0, 1])
    })
  }
}

export const hangsUp = async (t: Test, open: OpenWorld): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  await t.test("when it has ended, or is not known any more, then hanging up succeeds", async (t) => {
    const { call, ref } = await callIn(world, "ended")
    t.equal(await hosted.hangup(ref()), undefined)
    emulator.forget(call.uuid)
    t.equal(await hosted.hangup(ref()), undefined)
  })
  await t.test("when it is not certain that it ends, then hanging up fails", async (t) => {
    const { callId, ref } = await callIn(world, "up")
    const failed = { _tag: "ProviderError", operation: "hangup" }
    for (const reply of ["reset", { status: 503 }, { status: 404, body: "<html></html>" }, { status: 200, body: {} }] as const) {
      emulator.server.fail({ acts: false, reply }, isHangup)
      t.match(await hosted.hangup(ref()), failed, JSON.stringify(reply))
    }
    const { asked, log } = { asked: emulator.server.requests.length, log: emulator.log.live() }
    for (const providerCallId of ["", "../Number", "request:", "request:../x"])
      t.match(await hosted.hangup({ ...ref(), providerCallId, to: undefined }), { _tag: "ProviderError" }, `'${providerCallId}'`)
    t.equal(emulator.server.requests.length, asked, "then no request is sent without an id, because it would end all calls")
    t.equal(emulator.log.live(), log)
    t.equal(await hosted.lookup(ref()), "up")
    t.equal(await hosted.hangup(ref()), undefined)
    await hosted.line.event(callId, "HungUp")
  })
}

export const looksUp = async (t: Test, open: OpenWorld, states: ReadonlyArray<"queued" | "ringing" | "up" | "ended">): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  for (const state of states) {
    await t.test(`when it is ${state}, then it is found by its id, and by its number`, async (t) => {
      const { call, callId, ref } = await callIn(world, state)
      t.equal(await hosted.lookup({ ...ref(), providerCallId: call.uuid }), state)
      t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), state)
      t.match(
        hosted.line.events(callId).findLast(({ _tag }) => _tag === "Named"),
        { providerCallId: call.uuid }
      )
      await hosted.hangup(ref())
      emulator.holdQueue(false)
    })
  }
  await t.test("when its callbacks are lost, then the look reports its end", async (t) => {
    emulator.sender.hold()
    const { callId, to } = await hosted.originate(numberOf("013"))
    await untilTrue("end", () => isRecord(emulator.callsTo(to)[0]))
    emulator.sender.lose()
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.strictSame(
      hosted.line.story(callId).filter((word) => word !== "Named"),
      ["HungUp no_answer", "Billed"]
    )
  })
  await t.test("when its record is not there yet, then it is gone", async (t) => {
    const late = await open(t, { recordMillis: 3_600_000 })
    const { ref } = await callIn(late, "ended")
    t.equal(await late.hosted.lookup(ref()), "gone")
    t.equal(await late.hosted.lookup({ ...ref(), providerCallId: undefined }), "gone")
  })
  await t.test("when there are several calls to the number, then it is not known which one it is", async (t) => {
    const { ref, to } = await callIn(world, "ended")
    const { callId } = await hosted.originate(to)
    await hosted.line.event(callId, "HungUp")
    const lost = { ...ref(), providerCallId: undefined }
    t.equal(await hosted.lookup(lost), "silent")
    t.equal(await hosted.lookup({ ...lost, sentAt: Date.now() - 86_400_000 }), "gone", "at another time there are none")
    t.equal(await hosted.lookup({ ...lost, from: "+15550009999" }), "gone", "from another number neither")
    hosted.others.add(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.lookup(lost), "ended", "unless all but one are known to be other calls")
  })
  await t.test("when there is no trace of it, then it is gone, and not `never_placed`", async (t) => {
    emulator.server.fail({ acts: false, reply: "reset" }, placesCall)
    const { callId } = await hosted.originate(numberOf("001"))
    const lost = hosted.ref(callId)
    const named = { ...lost, providerCallId: "00000000-0000-4000-8000-000000000000" }
    t.equal(await hosted.lookup(lost), "gone")
    t.equal(await hosted.lookup(named), "gone")
    t.equal(await hosted.lookup({ ...lost, to: undefined }), "silent", "unless its number is not known")
    for (const reply of [{ status: 200, body: "<html></html>" }, { status: 503 }, { status: 404 }] as const) {
      emulator.server.fail({ acts: false, reply }, isLook, 1)
      t.equal(await hosted.lookup(named), "silent", `${reply.status} by its id`)
      emulator.server.fail({ acts: false, reply }, isLook, 1)
      t.equal(await hosted.lookup(lost), "silent", `${reply.status} by its number`)
    }
  })
}

export const sendsKeys = async (t: Test, open: OpenWorld): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  const { call, ref } = await callIn(world, "up")
  const { trunk } = hosted.line
  const send = (digits: string, more: object = {}) =>
    Effect.runPromise(Effect.exit(trunk.sendDtmf?.({ ...ref(), ...more }, digits) ?? Effect.die("no keys")))
  t.equal((await send("12#"))._tag, "Success")
  t.equal(emulator.log.pressed(call.uuid), "12#")
  t.equal((await send("w;x"))._tag, "Failure", "not keys")
  t.equal((await send("1", { providerCallId: undefined }))._tag, "Failure", "an unknown call")
  t.equal((await send("1", { providerCallId: "00000000-0000-4000-8000-000000000000" }))._tag, "Failure", "a call that does not exist")
  t.equal(await hosted.hangup(ref()), undefined)
}

/** Posts a callback as the carrier would: unchanged, with another body, at another address, or with other headers. */
export const forge = async (world: DialectWorld, kind: string, callId: CallId) => {
  const { hosted } = world
  const { callback } = await until("callback", () =>
    hosted.received.find(({ callback: { call, kind: its } }) => its === kind && call?.callId === callId)
  )
  const body = Buffer.from(callback.body).toString()
  const headers = Object.fromEntries(
    Object.entries(callback.headers).flatMap(([name, value]) =>
      value !== undefined && (name === "content-type" || name.startsWith("x-")) ? [[name, value]] : []
    )
  )
  const post = async (
    changed: { readonly body?: string; readonly url?: string; readonly headers?: Readonly<Record<string, string>> } = {}
  ) =>
    (await fetch(changed.url ?? callback.url, { method: "POST", body: changed.body ?? body, headers: { ...headers, ...changed.headers } }))
      .status
  return { body, url: callback.url, post }
}

/** `base`: the path of the account. `causes`: the causes that are reported for a busy destination. */
export const handsOver = async (t: Test, open: OpenWorld, base: string, causes: ReadonlyArray<string>): Promise<void> => {
  const world = await open(t)
  const { emulator, hosted } = world
  const hand = (ref: CallRef, to: string, transfer: number) => {
    const request = { from: OUR_NUMBER, kind: "attended", leave: () => true, timeoutSeconds: 7, to, transfer } as const
    return Effect.runPromise(Effect.result(hosted.line.trunk.transfer?.(ref, request) ?? Effect.die("it cannot")))
  }
  const { call, callId, ref } = await callIn(world, "up")
  const busy = numberOf("002")
  await t.test("when a callee is transferred, then the call is redirected to a document that dials", async (t) => {
    t.match(await hand(ref(), busy, 1), { _tag: "Success" })
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
  await t.test("when it is not certain that it was refused, then it is in doubt", async (t) => {
    for (const [reply, failure] of [
      [{ status: 200, body: "<html></html>" }, "TransferDoubtful"],
      [{ status: 200, body: { api_id: "a", error: "no" } }, "TransferDoubtful"],
      [{ status: 503, body: { api_id: "a", error: "no" } }, "TransferDoubtful"],
      [{ status: 404, body: "<html></html>" }, "TransferDoubtful"],
      [{ status: 404, body: { api_id: "a", error: "call not found" } }, "TransferRefused"]
    ] as const) {
      emulator.server.fail({ acts: false, reply }, ({ method, path }) => method === "POST" && path.endsWith(`/${call.uuid}/`))
      t.match(await hand(ref(), busy, 2), { failure: { _tag: failure } }, JSON.stringify(reply))
    }
  })
  await t.test("when we have hung up, then nobody is dialed", async (t) => {
    hosted.unwanted.add(callId)
    const to = numberOf("011")
    await hand(ref(), to, 3)
    await hosted.line.event(callId, "HungUp")
    t.equal(world.dials(to), 0)
  })
}
