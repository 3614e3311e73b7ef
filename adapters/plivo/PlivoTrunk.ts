/** Plivo's records and list of numbers. The rest of the trunk is shared by its dialect. */
import type { HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, numberAt, textAt, zonedTime } from "#adapters/shared/Json.ts"
import { digitsOf, numberIn } from "#adapters/shared/phoneNumbers.ts"
import { isUuid } from "#adapters/shared/PlivoDialectIds.ts"
import type { LiveCalls, Records } from "#adapters/shared/PlivoDialectRecords.ts"
import { type Dialect, openTrunk } from "#adapters/shared/PlivoDialectTrunk.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"
import { baseOf, type PlivoConfig } from "./PlivoAccount.ts"

/** Plivo bills in US dollars, and does not say so in its records. */
export const CURRENCY = "USD"

/**
 * Requests every retry that Plivo offers, except after a 4xx: a callback that was refused will be refused again. Only Plivo reads the fragment:
 * it is neither sent nor signed. https://www.plivo.com/docs/voice/concepts/callback-configurations
 */
export const RETRIES = "#rc=5&rp=5xx,ct,rt"

/** The longest page of any list. */
const PAGE_SIZE = 20

export const connect = (carrier: HostedCarrier, config: PlivoConfig, context: TrunkContext) =>
  openTrunk(carrier, context, { base: baseOf(config), retries: RETRIES, live, records, numbers })

const live: LiveCalls = {
  pathOf: (uuid, status) => `/Call/${uuid}/?status=${status}`,
  listPathOf: (status, to) => `/Call/?${new URLSearchParams({ status, call_direction: "outbound", to_number: digitsOf(to) })}`,
  hasQueue: true
}

const records: Records = {
  pathOf: (uuid) => `/Call/${uuid}/`,
  searchPathOf: (to, from, since) => {
    // Times of filters are UTC; numbers are matched as prefixes.
    const end_time__gte = new Date(since).toISOString().slice(0, 19).replace("T", " ")
    const numbers = { to_number: digitsOf(to), ...(from === undefined ? {} : { from_number: digitsOf(from) }) }
    return `/Call/?${new URLSearchParams({ ...numbers, call_direction: "outbound", end_time__gte, limit: String(PAGE_SIZE) })}`
  },
  oneIn: (body) => body,
  allIn: (body) => {
    const objects = at(body, "objects")
    return Array.isArray(objects) && textAt(body, "meta", "next") === undefined ? objects : undefined
  },
  read: (record) => {
    const uuid = at(record, "call_uuid")
    const [answerTime, seconds] = [at(record, "answer_time"), numberAt(record, "bill_duration")]
    if (!isUuid(uuid) || seconds === undefined || textAt(record, "end_time") === undefined) return undefined
    return {
      uuid,
      to: textAt(record, "to_number"),
      from: textAt(record, "from_number"),
      beganAt: zonedTime(textAt(record, "initiation_time")),
      end: {
        code: numberAt(record, "hangup_cause_code"),
        name: textAt(record, "hangup_cause_name"),
        wasAnswered: seconds > 0 || (typeof answerTime === "string" && answerTime !== ""),
        seconds,
        endedAt: zonedTime(textAt(record, "end_time")),
        cost: { amount: textAt(record, "total_amount"), currency: CURRENCY }
      }
    }
  }
}

const numbers: Dialect["numbers"] = {
  pathOf: (page) => `/Number/?limit=${PAGE_SIZE}&offset=${page * PAGE_SIZE}`,
  pageIn: (body) => {
    const entries = at(body, "objects")
    return Array.isArray(entries) ? { entries, isLast: textAt(body, "meta", "next") === undefined } : undefined
  },
  numberIn: (entry) => (at(entry, "voice_enabled") === false ? [] : numberIn(textAt(entry, "number")))
}
