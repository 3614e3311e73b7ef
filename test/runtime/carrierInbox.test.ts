/** Carriers' deliveries to a running process: each reaches its call once, whatever happens to connections and replies on the way. */
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import * as CarrierInbox from "#runtime/call/CarrierInbox.ts"
import { CallbackAddresses } from "#runtime/trunk/CallbackAddresses.ts"
import { callId, play, settled, steps, wait } from "#test/support/callScene.ts"
import { configurationId } from "#test/support/fakes.ts"
import { noDeliveries } from "#test/support/fakePorts.ts"

const addresses = Layer.succeed(CallbackAddresses, {
  mediaUrlOf: (id) => `wss://engine.test/media/${id}`,
  open: ({ kind }) => ({ callId, configurationId, kind, url: `https://engine.test/${kind}` }),
  openMedia: () => undefined,
  proofOf: () => "",
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
const delivered = Effect.map(deliver("5"), ({ status }) => status)

type Act<A> = (place: ReturnType<typeof database>["place"]) => Generator<Effect.Effect<unknown, never, CarrierCallbacks>, A, never>

/** The keys that the call has been told of, and what `act` has seen. */
const heardIn = async <A>(act: Act<A>, elsewhere = CallsElsewhere.layer) => {
  const { layer, place } = database()
  const inbox = CarrierInbox.layer.pipe(Layer.provide([addresses, layer, elsewhere, Charge.layer]))
  let seen: A | undefined
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
    ({ says }) =>
      steps(
        says({ _tag: "Rang" }),
        says({ _tag: "Answered" }),
        wait(0),
        Effect.map(
          Effect.gen(() => act(place)),
          (it) => void (seen = it)
        ),
        settled
      ).pipe(Effect.provide(inbox))
  )
  return { heard: log.filter((entry) => entry.startsWith("key")), seen }
}
const once = ["key 5"]
const lost = Effect.die("the connection was lost")

t.test("given a delivery and its repeats, then the call hears of it once", async (t) => {
  const seen = await heardIn(function* () {
    return yield* Effect.all([delivered, delivered, delivered], { concurrency: "unbounded" })
  })
  t.strictSame(seen, { heard: once, seen: [200, 200, 200] })
})

t.test("given a callback that its carrier has not signed, then it is refused, and neither stored nor heard", async (t) => {
  const seen = await heardIn(function* ({ stored }) {
    return [(yield* deliver("5", "forged")).status, stored.size]
  })
  t.strictSame(seen, { heard: [], seen: [403, 0] })
})

t.test("given a carrier that hangs up while its delivery is being stored, then the call hears of it", async (t) => {
  const { heard } = await heardIn(function* ({ fate }) {
    fate.after = Effect.sleep("1 second")
    const request = yield* Effect.forkChild(delivered)
    yield* settled
    yield* Fiber.interrupt(request)
    yield* wait("2 seconds")
    fate.after = Effect.void
    yield* delivered
  })
  t.strictSame(heard, once)
})

t.test("given a commit whose reply is lost, when the carrier repeats the delivery, then the call hears of it once", async (t) => {
  const seen = await heardIn(function* ({ fate }) {
    fate.after = lost
    const first = yield* delivered
    fate.after = Effect.void
    return [first, yield* delivered, yield* delivered]
  })
  t.strictSame(seen, { heard: once, seen: [503, 200, 200] })
})

t.test("given the same, and copies that arrive in the meantime, then none of them is acknowledged", async (t) => {
  const seen = await heardIn(function* ({ fate }) {
    fate.after = Effect.andThen(Effect.sleep("1 second"), lost)
    const copies = yield* Effect.forkChild(Effect.all([delivered, delivered], { concurrency: "unbounded" }))
    yield* TestClock.adjust("2 seconds")
    const first = yield* Fiber.join(copies)
    fate.after = Effect.void
    return [...first, yield* delivered]
  })
  t.strictSame(seen, { heard: once, seen: [503, 503, 200] })
})

t.test("given a database that is away, when it is back and the carrier repeats the delivery, then the call hears of it", async (t) => {
  const { heard } = await heardIn(function* ({ fate }) {
    fate.before = Effect.die("away")
    yield* delivered
    fate.before = Effect.void
    yield* delivered
  })
  t.strictSame(heard, once)
})

t.test("given a carrier that asks for a document, then it has the address of the audio at once, and the call hears of it", async (t) => {
  const seen = await heardIn(function* ({ fate }) {
    fate.before = Effect.sleep("1 second")
    const { body } = yield* deliver("5", "answer")
    yield* wait("2 seconds")
    return body
  })
  t.strictSame(seen, { heard: once, seen: `wss://engine.test/media/${callId}` })
})

t.test("given a call of a call node, when the carrier names the call only in what it says", async (t) => {
  /** What is heard of it here and there. */
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
    ).pipe(Layer.provide(CallsElsewhere.layer))
    const { heard } = await heardIn(function* () {
      yield* delivered
    }, elsewhere)
    return { here: heard, there }
  }
  const told = [callId, configurationId, { _tag: "Dtmf", digit: "5" }]
  t.strictSame(await heardOnNode(true), { here: [], there: [told] }, "when the node can be heard, then it is told")
  t.strictSame(await heardOnNode(false), { here: once, there: [] }, "when it cannot, then this engine's trunk is told")
})
