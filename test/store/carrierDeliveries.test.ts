/** The inbox for carriers' callbacks, on a real database. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { type CallId, TelephonyConfigId } from "#core/Id.ts"
import { CarrierDeliveries, type CarrierDelivery, prune } from "#core/provider/CarrierDeliveries.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { installClaims, numbersOf } from "./claims.ts"

const { claim, config, newId, run, running, withStore } = await installClaims(t)
const configurationId = TelephonyConfigId.make(config.id)
const storeOne = (inbox: CarrierDeliveries["Service"], delivery: CarrierDelivery) =>
  Effect.map(inbox.store([delivery]), ([stored]) => stored)
const inInbox = <A, E, R>(use: (inbox: CarrierDeliveries["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(CarrierDeliveries, use).pipe(Effect.provide(CarrierDeliveries.layer))

t.test("given deliveries about a call", async (t) => {
  const callId = newId()
  const rang = { callId, configurationId, delivery: "1", digest: new Uint8Array(32), events: [{ _tag: "Rang" }] } as const
  const answered = { ...rang, delivery: "2", events: [{ _tag: "Answered", at: 5 }] } as const
  const known = await run(
    inInbox((inbox) =>
      Effect.all({
        first: storeOne(inbox, rang),
        again: storeOne(inbox, rang),
        otherBody: storeOne(inbox, { ...rang, digest: new Uint8Array(32).fill(1) }),
        next: storeOne(inbox, answered),
        ofAnotherCall: storeOne(inbox, { ...rang, callId: newId() }),
        ofNoCall: storeOne(inbox, { ...rang, callId: undefined }),
        ofNobody: storeOne(inbox, { ...rang, configurationId: TelephonyConfigId.make(999_999) }),
        told: inbox.of(configurationId, callId),
        toldByOthers: inbox.of(TelephonyConfigId.make(999_999), callId)
      })
    )
  )
  t.equal(known.first, "first")
  t.equal(known.again, "repeated", "when one is repeated, then it is recognized")
  t.equal(known.otherBody, "altered", "when it comes with another body, then that is noticed")
  t.equal(known.next, "first")
  t.strictSame([known.ofAnotherCall, known.ofNoCall], ["first", "first"], "then an id is unique only within its call")
  t.equal(known.ofNobody, "unknown", "when its configuration is gone, then nothing is stored")
  t.strictSame(known.toldByOthers, [], "then other configurations cannot report anything about the call")
  t.strictSame(known.told, [{ _tag: "Rang" }, { _tag: "Answered", at: 5 }], "then each is returned once, in order")
})

t.test("given deliveries that are stored together", async (t) => {
  const [first, second] = [newId(), newId()]
  const of = (callId: CallId, delivery: string, event: TrunkEvent, filled = 0): CarrierDelivery => ({
    callId,
    configurationId,
    delivery,
    digest: new Uint8Array(32).fill(filled),
    events: [event]
  })
  const billed = (amount: string): TrunkEvent => ({ _tag: "Billed", amount, currency: "USD" })
  const { costs, known, told } = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* claim(yield* running(numbersOf(2, "+1418")), [first, second])
      yield* inInbox((inbox) => storeOne(inbox, of(first, "0", { _tag: "Queued" })))
      const known = yield* inInbox((inbox) =>
        inbox.store([
          of(first, "z", { _tag: "Rang" }),
          of(second, "a", { _tag: "Rang" }),
          of(first, "0", { _tag: "Queued" }),
          of(first, "z", { _tag: "Rang" }),
          of(first, "z", { _tag: "Rang" }, 1),
          { ...of(first, "x", { _tag: "Rang" }), configurationId: TelephonyConfigId.make(999_999) },
          of(first, "b", { _tag: "Answered", at: 5 }),
          of(first, "bill", billed("1")),
          of(second, "bill", billed("2"))
        ])
      )
      const costs = yield* sql<{ readonly cost: { readonly amount: string } }>`
        SELECT cost FROM runs WHERE attempt_id IN (${first}::uuid, ${second}::uuid) ORDER BY attempt_id`
      return { costs, known, told: yield* inInbox((inbox) => inbox.of(configurationId, first)) }
    })
  )
  t.strictSame(
    known,
    ["first", "first", "repeated", "repeated", "altered", "unknown", "first", "first", "first"],
    "then each has its own answer"
  )
  t.strictSame(
    told.map(({ _tag }) => _tag),
    ["Queued", "Rang", "Answered", "Billed"],
    "then they are returned in the order of their arrival"
  )
  t.match(costs, [{ cost: { amount: "1" } }, { cost: { amount: "2" } }])
})

t.test("given a call that its carrier names", async (t) => {
  const callId = newId()
  const found = await run(
    Effect.gen(function* () {
      yield* claim(yield* running(numbersOf(1)), [callId])
      yield* withStore((store) => store.named([{ callId, providerCallId: "CA1" }]))
      return yield* inInbox((inbox) => Effect.all([inbox.callOf(configurationId, "CA1"), inbox.callOf(configurationId, "CA2")]))
    })
  )
  t.strictSame(found, [callId, undefined], "then it is found by that name, and no other is")
})

t.test("given a delivery that says what a call cost, then its run has it along with the delivery, once", async (t) => {
  const callId = newId()
  const billed = (amount: string) => ({
    callId,
    configurationId,
    delivery: "bill",
    digest: new Uint8Array(32),
    events: [{ _tag: "Billed", amount, currency: "USD" } as const]
  })
  const costs = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* claim(yield* running(numbersOf(1, "+1416")), [callId])
      const cost = Effect.map(sql<{ cost: unknown }>`SELECT cost FROM runs WHERE attempt_id = ${callId}::uuid`, ([row]) => row?.cost)
      const before = yield* cost
      yield* inInbox((inbox) => storeOne(inbox, billed("0.0085")))
      const after = yield* cost
      yield* inInbox((inbox) => storeOne(inbox, billed("7")))
      return [before, after, yield* cost]
    })
  )
  const cost = { amount: "0.0085", currency: "USD" }
  t.strictSame(costs, [null, cost, cost])
})

t.test("given reports about calls whose attempts are over, then they are found until one says that the call has ended", async (t) => {
  const [rings, ends, live] = [newId(), newId(), newId()]
  const told = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* claim(yield* running(numbersOf(3, "+1417")), [rings, ends, live])
      yield* sql`UPDATE attempts SET state = 'ended', outcome = 'unknown', holds_number = false, ended_at = now() - interval '1 minute'
        WHERE id IN (${rings}::uuid, ${ends}::uuid)`
      const tell = (callId: CallId, delivery: string, event: TrunkEvent) =>
        inInbox((inbox) => storeOne(inbox, { callId, configurationId, delivery, digest: new Uint8Array(32), events: [event] }))
      yield* tell(live, "1", { _tag: "Rang" })
      yield* tell(rings, "1", { _tag: "Rang" })
      yield* tell(ends, "1", { _tag: "Rang" })
      yield* tell(ends, "2", { _tag: "HungUp", cause: "no_answer" })
      const late = yield* inInbox((inbox) => inbox.late)
      yield* sql`UPDATE attempts SET holds_number = true WHERE id = ${ends}::uuid`
      return { late, ofDoubt: (yield* inInbox((inbox) => inbox.late)).filter(({ callId }) => callId === ends) }
    })
  )
  t.strictSame(told.late, [{ callId: rings, configurationId, events: [{ _tag: "Rang" }] }])
  t.equal(told.ofDoubt.length, 2, "then the end of a call that may still appear is found as well")
})

t.test("given deliveries of two days ago, when the old ones are deleted, then the others stay", async (t) => {
  const counts = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE carrier_deliveries SET received_at = now() - interval '2 days' WHERE delivery = '1'`
      const gone = yield* prune(sql)
      const left = yield* sql`SELECT delivery FROM carrier_deliveries`
      return { gone, left: left.length }
    })
  )
  t.strictSame(counts, { gone: 6, left: 9 })
})

t.test("given deliveries of two configurations, when one configuration is deleted, then its deliveries go with it", async (t) => {
  const left = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [other] = yield* sql<{ readonly id: number }>`
        INSERT INTO telephony_configurations (organization_id, name, provider, credentials)
        SELECT organization_id, 'Deleted soon', provider, '{}' FROM telephony_configurations WHERE id = ${configurationId}::int RETURNING id`
      const told = { callId: newId(), delivery: "of two", digest: new Uint8Array(32), events: [{ _tag: "Rang" }] } as const
      const configurations = [configurationId, TelephonyConfigId.make(other?.id ?? 0)]
      yield* inInbox((inbox) => inbox.store(configurations.map((id) => ({ ...told, configurationId: id }))))
      yield* sql`DELETE FROM telephony_configurations WHERE id = ${other?.id}::int`
      return yield* sql`SELECT telephony_configuration_id AS id FROM carrier_deliveries WHERE delivery = 'of two'`
    })
  )
  t.strictSame(left, [{ id: configurationId }])
})
