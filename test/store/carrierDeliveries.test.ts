/** The inbox for carriers' callbacks, on a real database. */
import { Effect } from "effect"
import t from "tap"
import { type CallId, TelephonyConfigId } from "#core/Id.ts"
import { CarrierDeliveries, type CarrierDelivery, prune } from "#core/provider/CarrierDeliveries.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { installClaims, numbersOf } from "./claims.ts"
import { column } from "./services.ts"

const { claim, config, newId, running, sql, store, test } = await installClaims(t)
const configurationId = TelephonyConfigId.make(config.id)
const storeOne = (inbox: CarrierDeliveries["Service"], delivery: CarrierDelivery) =>
  Effect.map(inbox.store([delivery]), ([stored]) => stored)
const inInbox = <A, E, R>(use: (inbox: CarrierDeliveries["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(CarrierDeliveries, use).pipe(Effect.provide(CarrierDeliveries.layer))

test(t, "given deliveries about a call", function* (t) {
  const callId = newId()
  const rang = { callId, configurationId, delivery: "1", digest: new Uint8Array(32), events: [{ _tag: "Rang" }] } as const
  const answered = { ...rang, delivery: "2", events: [{ _tag: "Answered", at: 5 }] } as const
  const known = yield* inInbox((inbox) =>
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
  t.equal(known.first, "first")
  t.equal(known.again, "repeated", "when one is repeated, then it is recognized")
  t.equal(known.otherBody, "altered", "when it comes with another body, then that is noticed")
  t.equal(known.next, "first")
  t.strictSame([known.ofAnotherCall, known.ofNoCall], ["first", "first"], "then an id is unique only within its call")
  t.equal(known.ofNobody, "unknown", "when its configuration is gone, then nothing is stored")
  t.strictSame(known.toldByOthers, [], "then other configurations cannot report anything about the call")
  t.strictSame(known.told, [{ _tag: "Rang" }, { _tag: "Answered", at: 5 }], "then each is returned once, in order")
})

test(t, "given deliveries that are stored together", function* (t) {
  const [first, second] = [newId(), newId()]
  const of = (callId: CallId, delivery: string, event: TrunkEvent, filled = 0): CarrierDelivery => ({
    callId,
    configurationId,
    delivery,
    digest: new Uint8Array(32).fill(filled),
    events: [event]
  })
  const billed = (amount: string): TrunkEvent => ({ _tag: "Billed", amount, currency: "USD" })
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
  const told = yield* inInbox((inbox) => inbox.of(configurationId, first))
  t.strictSame(
    known,
    ["first", "first", "repeated", "repeated", "altered", "unknown", "first", "first", "first"],
    "then each has its own answer"
  )
  t.strictSame(column(told, "_tag"), ["Queued", "Rang", "Answered", "Billed"], "then they are returned in the order of their arrival")
  t.match(costs, [{ cost: { amount: "1" } }, { cost: { amount: "2" } }])
})

test(t, "given a call that its carrier names", function* (t) {
  const callId = newId()
  yield* claim(yield* running(numbersOf(1)), [callId])
  yield* store.named([{ callId, providerCallId: "CA1" }])
  const found = yield* inInbox((inbox) => Effect.all([inbox.callOf(configurationId, "CA1"), inbox.callOf(configurationId, "CA2")]))
  t.strictSame(found, [callId, undefined], "then it is found by that name, and no other is")
})

test(t, "given a delivery that says what a call cost, then its run has it along with the delivery, once", function* (t) {
  const callId = newId()
  const billed = (amount: string) => ({
    callId,
    configurationId,
    delivery: "bill",
    digest: new Uint8Array(32),
    events: [{ _tag: "Billed", amount, currency: "USD" } as const]
  })
  yield* claim(yield* running(numbersOf(1, "+1416")), [callId])
  const cost = Effect.map(sql<{ cost: unknown }>`SELECT cost FROM runs WHERE attempt_id = ${callId}::uuid`, ([row]) => row?.cost)
  t.equal(yield* cost, null)
  for (const amount of ["0.0085", "7"]) {
    yield* inInbox((inbox) => storeOne(inbox, billed(amount)))
    t.strictSame(yield* cost, { amount: "0.0085", currency: "USD" })
  }
})

test(t, "given reports about calls whose attempts are over, then they are found until one says that the call has ended", function* (t) {
  const [rings, ends, live] = [newId(), newId(), newId()]
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
  const ofDoubt = (yield* inInbox((inbox) => inbox.late)).filter(({ callId }) => callId === ends)
  t.strictSame(late, [{ callId: rings, configurationId, events: [{ _tag: "Rang" }] }])
  t.equal(ofDoubt.length, 2, "then the end of a call that may still appear is found as well")
})

test(t, "given deliveries of two days ago, when the old ones are deleted, then the others stay", function* (t) {
  yield* sql`UPDATE carrier_deliveries SET received_at = now() - interval '2 days' WHERE delivery = '1'`
  const gone = yield* prune(sql)
  const left = yield* sql`SELECT delivery FROM carrier_deliveries`
  t.strictSame({ gone, left: left.length }, { gone: 6, left: 9 })
})

test(t, "given deliveries of two configurations, when one configuration is deleted, then its deliveries go with it", function* (t) {
  const [other] = yield* sql<{ readonly id: number }>`
        INSERT INTO telephony_configurations (organization_id, name, provider, credentials)
        SELECT organization_id, 'Deleted soon', provider, '{}' FROM telephony_configurations WHERE id = ${configurationId}::int RETURNING id`
  const told = { callId: newId(), delivery: "of two", digest: new Uint8Array(32), events: [{ _tag: "Rang" }] } as const
  const configurations = [configurationId, TelephonyConfigId.make(other?.id ?? 0)]
  yield* inInbox((inbox) => inbox.store(configurations.map((id) => ({ ...told, configurationId: id }))))
  yield* sql`DELETE FROM telephony_configurations WHERE id = ${other?.id}::int`
  const left = yield* sql`SELECT telephony_configuration_id AS id FROM carrier_deliveries WHERE delivery = 'of two'`
  t.strictSame(left, [{ id: configurationId }])
})
