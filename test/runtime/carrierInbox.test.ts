/** Carriers' deliveries to a running process: each reaches its call once, whatever happens to connections and replies on the way. */
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import * as CarrierInbox from "#runtime/call/CarrierInbox.ts"
import { CallbackAddresses } from "#runtime/trunk/CallbackAddresses.ts"
import { callId, play, type Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { configurationId } from "#test/support/fakes.ts"
import { noDeliveries } from "#test/support/noDeliveries.ts"

const addresses = Layer.succeed(CallbackAddresses, {
  mediaUrlOf: (id) => `wss://engine.test/media/${id}`,
  open: ({ kind }) => ({ callId, configurationId, kind, url: `https://engine.test/${kind}` }),
  openMedia: () => undefined,
  urlOf: ({ kind }) => `https://engine.test/${kind}`
})

/** A database that does with each statement what `fate` says. */
const database = () => {
  const stored = new Set<string>()
  const place = {
    /** Runs before a statement, and after its commit. */
    fate: { after: Effect.void as Effect.Effect<unknown>, before: Effect.void as Effect.Effect<unknown> },
    stored
  }
  const store: CarrierDeliveries["Service"]["store"] = (deliveries) =>
    Effect.suspend(() => place.fate.before).pipe(
      Effect.andThen(
        Effect.sync(() =>
          deliveries.map(({ delivery }) => {
            const isNew = !stored.has(delivery)
            stored.add(delivery)
            return isNew ? ("first" as const) : ("repeated" as const)
          })
        )
      ),
      Effect.tap(() => Effect.suspend(() => place.fate.after))
    )
  return { layer: Layer.succeed(CarrierDeliveries, { ...noDeliveries, store }), place }
}

const keys = { address: { call: callId, configuration: "3", kind: "key", seal: "" }, headers: {}, method: "POST", query: "" } as const

/** Delivers a key that the callee pressed. */
const deliver = (digit: string, kind = "key") =>
  CarrierCallbacks.use((callbacks) =>
    callbacks.take({ ...keys, address: { ...keys.address, kind }, body: new TextEncoder().encode(digit) })
  )

type Act = (scene: Scene, place: ReturnType<typeof database>["place"]) => Effect.Effect<unknown, never, CarrierCallbacks>

/** The keys that the call has been told of. */
const heardIn = async (act: Act, elsewhere = CallsElsewhere.layerNone): Promise<ReadonlyArray<string>> => {
  const { layer, place } = database()
  const inbox = CarrierInbox.layer.pipe(Layer.provide([addresses, layer, elsewhere, EngineLock.layerHeld]))
  const { log } = await play(
    ({ world }) => {
      world.read = (_, { body, kind, mediaUrl = "" }) =>
        kind === "forged"
          ? undefined
          : {
              deliveryId: "1",
              events: [{ event: { _tag: "Dtmf", digit: new TextDecoder().decode(body) } }],
              ...(kind === "answer" ? { reply: { body: mediaUrl, mediaType: "text/plain" } } : {})
            }
    },
    (scene) => steps(scene.says({ _tag: "Rang" }), scene.says({ _tag: "Answered" }), wait(0), act(scene, place)).pipe(Effect.provide(inbox))
  )
  return log.filter((entry) => entry.startsWith("key"))
}

t.test("given a delivery and its repeats, then the call hears of it once", async (t) => {
  const statuses: Array<number> = []
  const heard = await heardIn(() =>
    Effect.map(Effect.all([deliver("5"), deliver("5"), deliver("5")], { concurrency: "unbounded" }), (all) =>
      statuses.push(...all.map(({ status }) => status))
    )
  )
  t.strictSame(statuses, [200, 200, 200])
  t.strictSame(heard, ["key 5"])
})

t.test("given a callback that its carrier has not signed, then it is refused, and neither stored nor heard", async (t) => {
  let seen: unknown
  const heard = await heardIn((_, { stored }) =>
    Effect.map(deliver("5", "forged"), ({ status }) => {
      seen = { status, stored: stored.size }
    })
  )
  t.strictSame(seen, { status: 403, stored: 0 })
  t.strictSame(heard, [])
})

t.test("given a carrier that hangs up while its delivery is being stored, then the call hears of it", async (t) => {
  const heard = await heardIn((_, place) =>
    Effect.gen(function* () {
      place.fate.after = Effect.sleep("1 second")
      const request = yield* Effect.forkChild(deliver("5"))
      yield* settled
      yield* Fiber.interrupt(request)
      yield* wait("2 seconds")
      place.fate.after = Effect.void
      yield* deliver("5")
      yield* settled
    })
  )
  t.strictSame(heard, ["key 5"])
})

t.test("given a commit whose reply is lost, when the carrier repeats the delivery, then the call hears of it once", async (t) => {
  const statuses: Array<number> = []
  const heard = await heardIn((_, place) =>
    Effect.gen(function* () {
      place.fate.after = Effect.die("the connection was lost")
      statuses.push((yield* deliver("5")).status)
      place.fate.after = Effect.void
      statuses.push((yield* deliver("5")).status, (yield* deliver("5")).status)
      yield* settled
    })
  )
  t.strictSame(statuses, [503, 200, 200])
  t.strictSame(heard, ["key 5"])
})

t.test("given the same, and copies that arrive in the meantime, then none of them is acknowledged", async (t) => {
  const statuses: Array<number> = []
  const heard = await heardIn((_, place) =>
    Effect.gen(function* () {
      place.fate.after = Effect.andThen(Effect.sleep("1 second"), Effect.die("the connection was lost"))
      const copies = yield* Effect.forkChild(Effect.all([deliver("5"), deliver("5")], { concurrency: "unbounded" }))
      yield* TestClock.adjust("2 seconds")
      statuses.push(...(yield* Fiber.join(copies)).map(({ status }) => status))
      place.fate.after = Effect.void
      statuses.push((yield* deliver("5")).status)
      yield* settled
    })
  )
  t.strictSame(statuses, [503, 503, 200])
  t.strictSame(heard, ["key 5"])
})

t.test("given a database that is away, when it is back and the carrier repeats the delivery, then the call hears of it", async (t) => {
  const heard = await heardIn((_, place) =>
    Effect.gen(function* () {
      place.fate.before = Effect.die("away")
      yield* deliver("5")
      place.fate.before = Effect.void
      yield* deliver("5")
      yield* settled
    })
  )
  t.strictSame(heard, ["key 5"])
})

t.test(
  "given a carrier that asks for a document, then it has the address of the call's audio at once, and the call hears of it",
  async (t) => {
    const replies: Array<string> = []
    const heard = await heardIn((_, place) =>
      Effect.gen(function* () {
        place.fate.before = Effect.sleep("1 second")
        replies.push((yield* deliver("5", "answer")).body)
        yield* wait("2 seconds")
      })
    )
    t.strictSame(replies, [`wss://engine.test/media/${callId}`])
    t.strictSame(heard, ["key 5"])
  }
)

/** What is heard here of a call on a call node, and there, when the carrier names the call only in what it says. */
const heardOnNode = async (isFollowed: boolean) => {
  const there: Array<unknown> = []
  const elsewhere = Layer.effect(
    CallsElsewhere,
    Effect.map(CallsElsewhere, (calls) => {
      calls.add({ callId, campaignId: undefined, journal: "the node's" })
      calls.onTell((...said) => {
        if (isFollowed) there.push(said)
        return isFollowed
      })
      return calls
    })
  ).pipe(Layer.provide(CallsElsewhere.layerNone))
  const here = await heardIn(() => Effect.andThen(deliver("5"), settled), elsewhere)
  return { here, there }
}

t.test("given a call of a call node that can be heard, then the call node is told", async (t) => {
  t.strictSame(await heardOnNode(true), { here: [], there: [[callId, configurationId, { _tag: "Dtmf", digit: "5" }]] })
})

t.test("given a call of a call node that cannot be heard, then this engine's trunk is told", async (t) => {
  t.strictSame(await heardOnNode(false), { here: ["key 5"], there: [] })
})
