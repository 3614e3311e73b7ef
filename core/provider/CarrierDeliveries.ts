/** The inbox for carriers' callbacks: each delivery once, stored before it is acknowledged, and read again after a crash. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CallId, type TelephonyConfigId } from "#core/Id.ts"
import { costIn } from "./CallCost.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"

/**
 * How long repeats of a delivery are recognized, and a delivery can be read again. This exceeds the time of a call, its record and a carrier's
 * retries.
 */
const KEPT_SECONDS = 86_400
export const prunedAtOnce = 1000
/** A call that appears late does so within this time. */
const LATE_SECONDS = 600
const NO_CALL = "00000000-0000-0000-0000-000000000000"

export interface CarrierDelivery {
  readonly configurationId: TelephonyConfigId
  /** Undefined if the delivery is about none of our calls. */
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

/** `repeated`: it was stored before. `altered`: it was stored before with another body. `unknown`: its configuration is gone. */
export type StoredDelivery = "first" | "repeated" | "altered" | "unknown"

export class CarrierDeliveries extends Context.Service<
  CarrierDeliveries,
  {
    /**
     * Stores deliveries and the costs of calls that they report. Returns when all of it is on disk, with the result for each in the same
     * order.
     */
    readonly store: (deliveries: ReadonlyArray<CarrierDelivery>) => Effect.Effect<ReadonlyArray<StoredDelivery>>
    /** What the carrier of a call's own configuration reported about it, in order of arrival. */
    readonly of: (id: TelephonyConfigId, callId: CallId) => Effect.Effect<ReadonlyArray<TrunkEvent>>
    /**
     * Recent reports about calls whose attempts were over, in order of arrival: about those that may still appear, and about others unless their
     * ends have been reported.
     */
    readonly late: Effect.Effect<ReadonlyArray<LateDelivery>>
    /** Our id of the call that has this id at the carrier. */
    readonly callOf: (id: TelephonyConfigId, providerCallId: string) => Effect.Effect<CallId | undefined>
  }
>()("core/provider/CarrierDeliveries") {
  static readonly layer = Layer.effect(
    CarrierDeliveries,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      store: (deliveries) => Effect.orDie(store(sql, deliveries)),
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

/** Deletes up to `prunedAtOnce` deliveries that are too old to matter, and returns how many. */
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

type Numbered = CarrierDelivery & { readonly place: number }

/**
 * Selects what a single statement can store: one copy of each delivery, and at most one bill, because two bills would lock their runs in arbitrary
 * order. The rest follows in another statement.
 */
const parted = (deliveries: ReadonlyArray<Numbered>) => {
  const now = new Map<string, Numbered>()
  const rest: Array<Numbered> = []
  let hasBill = false
  for (const one of deliveries) {
    const key = `${one.configurationId} ${one.callId} ${one.delivery}`
    const isBill = costIn(one.events) !== undefined
    if (now.has(key) || (isBill && hasBill)) rest.push(one)
    else now.set(key, one)
    hasBill ||= isBill
  }
  return { now: [...now.values()], rest }
}

const store = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, deliveries: ReadonlyArray<CarrierDelivery>) {
  const stored: Array<StoredDelivery> = []
  let waiting: ReadonlyArray<Numbered> = deliveries.map((delivery, place) => ({ ...delivery, place }))
  while (waiting.length > 0) {
    const { now, rest } = parted(waiting)
    for (const row of yield* storeTogether(sql, now)) stored[row.place] = storedAs(row)
    waiting = rest
  }
  return stored
})

interface StoredRow {
  readonly place: number
  readonly isKnown: boolean
  readonly isStored: boolean
  readonly isSame: boolean | null
}

const storedAs = ({ isKnown, isSame, isStored }: StoredRow): StoredDelivery => {
  if (!isKnown) return "unknown"
  if (isStored) return "first"
  return isSame === false ? "altered" : "repeated"
}

const storeTogether = (sql: SqlClient.SqlClient, deliveries: ReadonlyArray<Numbered>) => {
  const told = deliveries.map(({ callId = NO_CALL, configurationId, delivery, digest, events, place }) => ({
    place,
    configuration_id: configurationId,
    call_id: callId,
    delivery,
    digest: Buffer.from(digest).toString("hex"),
    events,
    cost: costIn(events)
  }))
  const callIds = told.map(({ call_id }) => call_id)
  // The keys are inserted in sorted order, so that two statements with the same keys cannot deadlock. The times preserve the order of arrival.
  return sql<StoredRow>`
    WITH told AS MATERIALIZED (
      SELECT place, configuration_id, call_id, delivery, decode(digest, 'hex') AS digest, events, cost, organization_id
      FROM jsonb_to_recordset(${JSON.stringify(told)}::text::jsonb) AS told (place int, configuration_id int, call_id uuid, delivery text,
        digest text, events jsonb, cost jsonb)
      LEFT JOIN telephony_configurations ON telephony_configurations.id = configuration_id
    ), stored AS (
      INSERT INTO carrier_deliveries (organization_id, telephony_configuration_id, call_id, delivery, digest, events, received_at)
      SELECT organization_id, configuration_id, call_id, delivery, digest, events, now() + place * interval '1 microsecond'
      FROM told WHERE organization_id IS NOT NULL
      ORDER BY call_id, configuration_id, delivery
      ON CONFLICT DO NOTHING RETURNING call_id, telephony_configuration_id, delivery
    )${told.some(({ cost }) => cost !== undefined) ? billing(sql, callIds) : sql.literal("")}
    SELECT place, organization_id IS NOT NULL AS is_known, stored.call_id IS NOT NULL AS is_stored,
      CASE WHEN stored.call_id IS NULL THEN (SELECT before.digest = told.digest FROM carrier_deliveries before
        WHERE before.call_id = told.call_id AND before.telephony_configuration_id = configuration_id AND before.delivery = told.delivery) END AS is_same
    FROM told LEFT JOIN stored
      ON stored.call_id = told.call_id AND stored.telephony_configuration_id = configuration_id AND stored.delivery = told.delivery`
}

/** Added only if it is needed: each table that a statement may write costs time, even if nothing is written there. */
const billing = (sql: SqlClient.SqlClient, callIds: ReadonlyArray<string>) => sql`, billed AS (
      UPDATE runs SET cost = told.cost FROM told
      JOIN stored ON stored.call_id = told.call_id AND stored.telephony_configuration_id = configuration_id AND stored.delivery = told.delivery
      JOIN attempts a ON a.id = told.call_id AND a.telephony_configuration_id = configuration_id
      WHERE told.cost IS NOT NULL AND a.id = ANY (${callIds}::uuid[]) AND runs.attempt_id = ANY (${callIds}::uuid[]) AND runs.attempt_id = a.id
    )`
