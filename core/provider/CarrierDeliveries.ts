/** The inbox of what carriers tell us: each delivery once, stored before it is acknowledged, and read again after a crash. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CallId, type TelephonyConfigId } from "#core/Id.ts"
import { costIn } from "./CallCost.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"

/** How long a repeat of a delivery is known as such, and a delivery can be read again: longer than a call, its record and a carrier's retries last. */
const KEPT_SECONDS = 86_400
export const prunedAtOnce = 1000
/** A call that appears does so within this time. */
const LATE_SECONDS = 600
const NO_CALL = "00000000-0000-0000-0000-000000000000"

interface CarrierDelivery {
  readonly configurationId: TelephonyConfigId
  /** Undefined: it is about no call of ours. */
  readonly callId: CallId | undefined
  /** The same for each repeat. */
  readonly delivery: string
  /** SHA-256 of the body. */
  readonly digest: Uint8Array
  readonly events: ReadonlyArray<TrunkEvent>
}

interface LateDelivery extends Pick<CarrierDelivery, "configurationId" | "events"> {
  readonly callId: CallId
}

export class CarrierDeliveries extends Context.Service<
  CarrierDeliveries,
  {
    /**
     * Stores it, along with what it says that the call cost, and returns once both are on disk. `repeated`: it was stored before. `altered`: it was stored before with another body. `unknown`:
     * its configuration is gone.
     */
    readonly store: (delivery: CarrierDelivery) => Effect.Effect<"first" | "repeated" | "altered" | "unknown">
    /** What was told of a call by its own configuration's carrier, in the order in which it arrived. */
    readonly of: (id: TelephonyConfigId, callId: CallId) => Effect.Effect<ReadonlyArray<TrunkEvent>>
    /**
     * What was told lately of calls whose attempts were over, in the order in which it arrived: of those that may still appear, and of others unless
     * their ends have been told.
     */
    readonly late: Effect.Effect<ReadonlyArray<LateDelivery>>
    /** Our id of the call that the carrier calls so. */
    readonly callOf: (id: TelephonyConfigId, providerCallId: string) => Effect.Effect<CallId | undefined>
  }
>()("core/provider/CarrierDeliveries") {
  static readonly layer = Layer.effect(
    CarrierDeliveries,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      store: (delivery) => Effect.orDie(store(sql, delivery)),
      of: (id, callId) =>
        sql<{ readonly events: ReadonlyArray<TrunkEvent> }>`
          SELECT events FROM carrier_deliveries WHERE call_id = ${callId}::uuid AND telephony_configuration_id = ${id}::int
          ORDER BY received_at, delivery`.pipe(
          Effect.map((rows) => rows.flatMap(({ events }) => events)),
          Effect.orDie
        ),
      late: Effect.orDie(late(sql)),
      callOf: (id, providerCallId) =>
        sql<{ readonly id: string }>`
          SELECT id FROM attempts WHERE telephony_configuration_id = ${id}::int AND provider_call_id = ${providerCallId}
          ORDER BY created_at DESC LIMIT 1`.pipe(
          Effect.map(([row]) => (row === undefined ? undefined : Schema.decodeSync(CallId)(row.id))),
          Effect.orDie
        )
    }))
  )
}

/** Deletes deliveries that are too old to matter, at most `prunedAtOnce`, and returns how many. */
export const prune = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql`
      DELETE FROM carrier_deliveries WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM carrier_deliveries WHERE received_at < now() - ${KEPT_SECONDS}::int * interval '1 second' LIMIT ${prunedAtOnce}::int)) RETURNING true`,
    (rows) => rows.length
  )

const late = (sql: SqlClient.SqlClient) =>
  sql<LateDelivery>`
    SELECT d.call_id, d.telephony_configuration_id AS configuration_id, d.events FROM carrier_deliveries d
    JOIN attempts a ON a.id = d.call_id AND a.telephony_configuration_id = d.telephony_configuration_id
    WHERE d.received_at > now() - ${LATE_SECONDS}::int * interval '1 second' AND d.received_at > a.ended_at AND a.state IN ('ended', 'void')
      AND (a.holds_number OR NOT EXISTS (
        SELECT FROM carrier_deliveries e WHERE e.call_id = d.call_id AND e.events @> '[{"_tag": "HungUp"}]'))
    ORDER BY d.received_at, d.delivery`

const store = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { callId, configurationId, delivery, digest, events }: CarrierDelivery
) {
  const cost = costIn(events)
  const [row] = yield* sql<{ readonly isKnown: boolean; readonly isStored: boolean; readonly isSame: boolean | null }>`
    WITH owner AS (SELECT organization_id FROM telephony_configurations WHERE id = ${configurationId}::int), stored AS (
      INSERT INTO carrier_deliveries (organization_id, telephony_configuration_id, call_id, delivery, digest, events)
      SELECT organization_id, ${configurationId}::int, ${callId ?? NO_CALL}::uuid, ${delivery}, ${digest}::bytea, ${JSON.stringify(events)}::text::jsonb FROM owner
      ON CONFLICT DO NOTHING RETURNING true
    ), billed AS (
      UPDATE runs SET cost = ${cost === undefined ? null : JSON.stringify(cost)}::text::jsonb FROM attempts a
      WHERE ${cost !== undefined} AND EXISTS (SELECT FROM stored) AND attempt_id = a.id
        AND a.id = ${callId ?? NO_CALL}::uuid AND a.telephony_configuration_id = ${configurationId}::int
    )
    SELECT EXISTS (SELECT FROM owner) AS is_known, EXISTS (SELECT FROM stored) AS is_stored, (
      SELECT digest = ${digest}::bytea FROM carrier_deliveries
      WHERE call_id = ${callId ?? NO_CALL}::uuid AND telephony_configuration_id = ${configurationId}::int AND delivery = ${delivery}) AS is_same`
  if (row?.isKnown !== true) return "unknown"
  if (row.isStored) return "first"
  return row.isSame === false ? "altered" : "repeated"
})
