/** Transfers through Vonage, on the wire. */
import { Effect } from "effect"
import t from "tap"
import type { CallRef } from "#core/provider/CallRef.ts"
import { errorOf } from "#test/emulators/vonage/VonageErrors.ts"
import { transfersCall } from "#test/emulators/vonage/VonageEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { numberOf } from "./Line.ts"
import { callIn, openWorld } from "./vonageWorld.ts"

t.test("given a callee who talks to the agent", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { callId, ref } = await callIn(world, "up")
  const hand = (call: CallRef, to: string, transfer: number) => {
    const request = { from: OUR_NUMBER, kind: "attended", leave: () => true, timeoutSeconds: 300, to, transfer } as const
    return Effect.runPromise(Effect.result(hosted.line.trunk.transfer?.(call, request) ?? Effect.die("it cannot")))
  }
  const repliesOf = (kind: string) =>
    hosted.received.filter(({ callback }) => callback.kind === kind).flatMap(({ read }) => (read?.reply === undefined ? [] : [read.reply]))
  const outcomes = () => hosted.line.events(callId).filter(({ _tag }) => _tag === "Transferred")

  await t.test("when the destination is busy, then the callee is connected to the agent again", async (t) => {
    const to = numberOf("002")
    t.match(await hand(ref(), to, 1), { _tag: "Success" })
    const { body = "{}", path } = emulator.server.requests.find(transfersCall) ?? {}
    t.equal(path, `/v1/calls/${ref().providerCallId}`)
    const from = OUR_NUMBER.slice(1)
    const address = hosted.address("transfer-a", callId)
    const dial = { eventType: "synchronous", eventUrl: [address], timeout: 120, endpoint: [{ type: "phone", number: to.slice(1) }] }
    t.strictSame(JSON.parse(body), {
      action: "transfer",
      destination: { type: "ncco", ncco: [{ action: "connect", from, ...dial }] }
    })
    await untilTrue("the outcome", () => outcomes().length > 0)
    t.strictSame(outcomes(), [{ _tag: "Transferred", transfer: 1, answered: false, cause: "user_busy" }])
    const endpoint = [{ type: "websocket", uri: hosted.address("media", callId), "content-type": "audio/l16;rate=8000" }]
    t.strictSame(
      repliesOf("transfer-a").map(({ body, mediaType }) => [mediaType, JSON.parse(body)]),
      [["application/json", [{ action: "connect", from, endpoint }]]]
    )
    t.equal(world.dials(to), 1)
  })
  await t.test("when it is not certain that it was refused, then it is in doubt", async (t) => {
    for (const [reply, failure] of [
      [{ status: 200, body: "<html></html>" }, "TransferDoubtful"],
      [{ status: 503, body: {} }, "TransferDoubtful"],
      [{ status: 404, body: "<html></html>" }, "TransferDoubtful"],
      [errorOf(404, "not-found", undefined, false), "TransferRefused"]
    ] as const) {
      emulator.server.fail({ acts: false, reply }, transfersCall)
      t.match(await hand(ref(), numberOf("011"), 2), { failure: { _tag: failure } }, JSON.stringify(reply))
    }
  })
  await t.test("when we have hung up before the destination refuses, then nothing follows", async (t) => {
    hosted.unwanted.add(callId)
    await hand(ref(), numberOf("002"), 3)
    await hosted.line.event(callId, "HungUp")
    t.strictSame(repliesOf("transfer-c"), [])
  })
})
