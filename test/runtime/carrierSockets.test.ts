/** The websockets of carriers as an operator sees them: counted by provider, whether they were admitted or not. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CarrierMedia, type MediaAdmission } from "#core/provider/CarrierMedia.ts"
import type { AcceptMedia, MediaSocket } from "#core/provider/MediaSocket.ts"
import * as CarrierSockets from "#runtime/call/CarrierSockets.ts"
import { CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallbackAddresses } from "#runtime/trunk/CallbackAddresses.ts"
import { answered, callId, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { adapterOf } from "#test/support/fakeProvider.ts"

const addresses = Layer.succeed(CallbackAddresses, {
  mediaUrlOf: (id) => `wss://engine.test/media/${id}`,
  open: () => undefined,
  openMedia: ({ call }) => (call === callId ? callId : undefined),
  urlOf: undefined
})

/** The signature of the carrier's requests. */
const genuine = "the carrier's"

/** The counters after `act`, which can open sockets. The carrier accepts a frame only while `hasRoom`. */
const counted = async (
  act: (admit: CarrierMedia["Service"]["admit"], socket: { hasRoom: boolean } & MediaSocket, scene: Scene) => Effect.Effect<unknown>
) => {
  const metrics = new CallMetrics()
  let counts: Readonly<Record<string, object>> = {}
  const count = () => {
    counts = Object.fromEntries([...metrics.sockets].map(([provider, counts]) => [provider, { ...counts }]))
  }
  const socket = { bufferedBytes: () => 0, close: () => {}, hasRoom: true, sendBytes: () => socket.hasRoom, sendText: () => socket.hasRoom }
  const way = CarrierSockets.layer.pipe(Layer.provide([addresses, CallsElsewhere.layerNone, Layer.succeed(CurrentCallMetrics, metrics)]))
  await play(
    ({ world }) => {
      const accept: AcceptMedia = (_, own) => ({
        closed: () => {},
        message: (frame) => {
          own.sendText(frame)
          own.sendBytes(frame)
          return undefined
        }
      })
      world.adapter = { ...adapterOf(world), media: { accept, admit: (_, { headers }) => headers["signature"] === genuine } }
    },
    (scene) =>
      steps(
        scene.says(answered),
        wait(0),
        Effect.andThen(
          CarrierMedia.use(({ admit }) => act(admit, socket, scene)),
          Effect.sync(count)
        )
      ).pipe(Effect.provide(way))
  )
  return counts
}

const none = { dropped: 0, forged: 0, open: 0, strayed: 0 }
const upgrade = (call: string, signature = genuine) => ({ address: { call, seal: "" }, headers: { signature }, query: "" })
const frame = new Uint8Array(160)

const opened = (admission: MediaAdmission, socket: MediaSocket) => {
  if (admission._tag === "Refused") throw new Error(`refused: ${admission.status}`)
  return admission.open(socket)
}

t.test("given sockets that are opened and closed, then those that are open are counted", async (t) => {
  const counts = await counted((admit, socket) =>
    Effect.sync(() => {
      opened(admit(upgrade(callId)), socket)
      opened(admit(upgrade(callId)), socket).closed("ended", "done")
    })
  )
  t.strictSame(counts, { fake: { ...none, open: 1 } })
})

t.test("given a carrier that is too far behind, then the frames that it does not get are counted, and none after the end", async (t) => {
  const counts = await counted((admit, socket) =>
    Effect.sync(() => {
      const session = opened(admit(upgrade(callId)), socket)
      session.message(frame, false)
      socket.hasRoom = false
      session.message(frame, false)
      session.closed("ended", "done")
      session.message(frame, false)
    })
  )
  t.strictSame(counts, { fake: { ...none, dropped: 2 } })
})

t.test("given sockets that are not admitted, then they are counted, by provider if it is known", async (t) => {
  const counts = await counted((admit, _, scene) =>
    Effect.gen(function* () {
      admit(upgrade("forged"))
      yield* scene.says(hungUp("normal_clearing"))
      admit(upgrade(callId))
    })
  )
  t.strictSame(counts, { unknown: { ...none, forged: 1, strayed: 1 } })
})

t.test("given a request that its carrier has not signed, then it is refused, and counted as forged", async (t) => {
  const admissions: Array<MediaAdmission> = []
  const counts = await counted((admit) => Effect.sync(() => admissions.push(admit(upgrade(callId, "a stranger's")))))
  t.strictSame(admissions, [{ _tag: "Refused", status: 403 }])
  t.strictSame(counts, { fake: { ...none, forged: 1 } })
})
