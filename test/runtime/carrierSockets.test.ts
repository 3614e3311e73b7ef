/** The websockets of carriers as an operator sees them: counted by provider, whether they were admitted or not. */
import { Effect, Layer } from "effect"
import t from "tap"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CarrierMedia, type MediaAdmission, type MediaSession } from "#core/provider/CarrierMedia.ts"
import type { AcceptMedia, MediaSocket } from "#core/provider/MediaSocket.ts"
import * as CarrierSockets from "#runtime/call/CarrierSockets.ts"
import { CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallbackAddresses } from "#runtime/trunk/CallbackAddresses.ts"
import { answered, callId, hungUp, play, steps, wait } from "#test/support/callScene.ts"
import { adapterOf } from "#test/support/fakeProvider.ts"

const addresses = Layer.succeed(CallbackAddresses, {
  mediaUrlOf: (id) => `wss://engine.test/media/${id}`,
  open: () => undefined,
  openMedia: ({ call }) => (call === callId ? callId : undefined),
  proofOf: () => "",
  urlOf: undefined
})

/** The signature of the carrier's requests. */
const genuine = "the carrier's"

interface Carrier {
  readonly admit: CarrierMedia["Service"]["admit"]
  /** Opens a socket of the call. It accepts a frame only while `hasRoom`. */
  readonly opened: () => MediaSession
  readonly socket: { hasRoom: boolean } & MediaSocket
}

const none = { dropped: 0, forged: 0, open: 0, strayed: 0 }
const upgrade = (call: string, signature = genuine) => ({ address: { call, seal: "" }, headers: { signature }, query: "" })
const frame = new Uint8Array(160)

/** The counters after `act`, which can open sockets, if the call is still up. */
const counted = async (act: (carrier: Carrier) => void, isOver = false) => {
  const metrics = new CallMetrics()
  let counts: Readonly<Record<string, object>> = {}
  const socket = { bufferedBytes: () => 0, close: () => {}, hasRoom: true, sendBytes: () => socket.hasRoom, sendText: () => socket.hasRoom }
  const way = CarrierSockets.layer.pipe(
    Layer.provide([addresses, CallsElsewhere.layer, Charge.layer, Layer.succeed(CurrentCallMetrics, metrics)])
  )
  const accept: AcceptMedia = (_, own) => ({
    closed: () => {},
    message: (frame) => {
      own.sendText(frame)
      own.sendBytes(frame)
      return undefined
    }
  })
  const admitted = CarrierMedia.use(({ admit }) =>
    Effect.sync(() => {
      const opened = () => {
        const admission = admit(upgrade(callId))
        if (admission._tag === "Refused") throw new Error(`refused: ${admission.status}`)
        return admission.open(socket)
      }
      act({ admit, opened, socket })
      counts = Object.fromEntries([...metrics.sockets].map(([provider, counts]) => [provider, { ...counts }]))
    })
  )
  await play(
    ({ world }) => {
      world.adapter = { ...adapterOf(world), media: { accept, admit: (_, { headers }) => headers["signature"] === genuine } }
    },
    ({ says }) => steps(says(answered), wait(0), isOver ? says(hungUp("normal_clearing")) : Effect.void, admitted).pipe(Effect.provide(way))
  )
  return counts
}

t.test("given sockets that are opened and closed, then those that are open are counted", async (t) => {
  const counts = await counted(({ opened }) => [opened(), opened().closed("ended", "done")])
  t.strictSame(counts, { fake: { ...none, open: 1 } })
})

t.test("given a carrier that is too far behind, then the frames that it does not get are counted, and none after the end", async (t) => {
  const counts = await counted(({ opened, socket }) => {
    const session = opened()
    session.message(frame, false)
    socket.hasRoom = false
    session.message(frame, false)
    session.closed("ended", "done")
    session.message(frame, false)
  })
  t.strictSame(counts, { fake: { ...none, dropped: 2 } })
})

t.test("given sockets that are not admitted, then they are counted, by provider if it is known", async (t) => {
  const strays = await counted(({ admit }) => [admit(upgrade("forged")), admit(upgrade(callId))], true)
  t.strictSame(strays, { unknown: { ...none, forged: 1, strayed: 1 } })
  let admission: MediaAdmission | undefined
  const forged = await counted(({ admit }) => void (admission = admit(upgrade(callId, "a stranger's"))))
  t.strictSame(admission, { _tag: "Refused", status: 403 }, "a request that its carrier has not signed is refused")
  t.strictSame(forged, { fake: { ...none, forged: 1 } })
})
