/** Vobiz' records and list of numbers. The rest of the trunk is shared by Plivo's dialect. */
import type { HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, numberAt, textAt, timeIn } from "#adapters/shared/Json.ts"
import { digitsOf, numberIn } from "#adapters/shared/phoneNumbers.ts"
import { isUuid } from "#adapters/shared/PlivoDialectIds.ts"
import type { LiveCalls, Records } from "#adapters/shared/PlivoDialectRecords.ts"
import { type Dialect, openTrunk } from "#adapters/shared/PlivoDialectTrunk.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"
import { baseOf, type VobizConfig } from "./VobizAccount.ts"

/** The longest page of any list. */
const PAGE_SIZE = 100
const DAY_MILLIS = 86_400_000

export const connect = (carrier: HostedCarrier, config: VobizConfig, context: TrunkContext) =>
  openTrunk(carrier, context, {
    base: baseOf(config),
    // No way to request retries is documented.
    retries: "",
    // Only this limit is documented; `ring_timeout` occurs in an example.
    alsoAsked: ({ ring_timeout }) => ({ hangup_on_ring: ring_timeout }),
    live,
    records,
    numbers
  })

const live: LiveCalls = {
  pathOf: (uuid, status) => `/Call/${uuid}?status=${status}`,
  // Calls cannot be selected by their number.
  listPathOf: (status) => (status === "live" ? "/Call?status=live" : "/Call/?status=queued"),
  hasQueue: false
}

const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

const records: Records = {
  pathOf: (uuid) => `/cdr/${uuid}`,
  searchPathOf: (to, _, since) => {
    // The time zone of the days is not documented.
    const [start_date, end_date] = [dayOf(since - DAY_MILLIS), dayOf(since + 2 * DAY_MILLIS)]
    const query = { to_number: digitsOf(to), call_direction: "outbound", start_date, end_date, per_page: String(PAGE_SIZE) }
    return `/cdr?${new URLSearchParams(query)}`
  },
  oneIn: (body) => at(body, "data"),
  allIn: (body) => {
    const data = at(body, "data")
    return Array.isArray(data) && at(body, "pagination", "has_next") !== true ? data : undefined
  },
  read: (record) => {
    const uuid = at(record, "uuid")
    const seconds = numberAt(record, "billsec")
    if (!isUuid(uuid) || seconds === undefined || textAt(record, "end_time") === undefined) return undefined
    return {
      uuid,
      to: textAt(record, "destination_number"),
      from: textAt(record, "caller_id_number"),
      beganAt: timeIn(textAt(record, "start_time")),
      end: {
        code: numberAt(record, "hangup_cause_code"),
        name: textAt(record, "hangup_cause_name"),
        word: textAt(record, "hangup_cause"),
        wasAnswered: seconds > 0 || (textAt(record, "answer_time") ?? "") !== "",
        seconds,
        endedAt: timeIn(textAt(record, "end_time")),
        cost: { amount: amountIn(at(record, "total_cost")), currency: textAt(record, "currency") ?? "" }
      }
    }
  }
}

/** The amount includes the cost of the stream. */
const amountIn = (cost: unknown): string | undefined => (typeof cost === "number" || typeof cost === "string" ? String(cost) : undefined)

const numbers: Dialect["numbers"] = {
  pathOf: (page) => `/numbers?page=${page + 1}&per_page=${PAGE_SIZE}`,
  pageIn: (body) => {
    const entries = at(body, "items")
    return Array.isArray(entries) ? { entries, isLast: entries.length < PAGE_SIZE } : undefined
  },
  numberIn: (entry) => numberIn(textAt(entry, "e164"))
}
