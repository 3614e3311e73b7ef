/** Plivo's account, records and list of numbers. The rest of the trunk is that of its dialect. */
import { Effect } from "effect"
import { openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { Outcome } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { zonedTime } from "#adapters/shared/PlivoDialectEnd.ts"
import { isUuid } from "#adapters/shared/PlivoDialectIds.ts"
import { digitsOf, type LiveCalls, type Records } from "#adapters/shared/PlivoDialectRecords.ts"
import { standingBy } from "#adapters/shared/PlivoDialectReplies.ts"
import { type Dialect, hangup, type Line, lookup, numbers, originate, sendDtmf } from "#adapters/shared/PlivoDialectTrunk.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"
import { refusals } from "./plivoCodes.ts"

interface PlivoConfig {
  readonly auth_id: string
  readonly auth_token: string
}

/** Plivo bills in US dollars, and does not say so in its records. */
export const CURRENCY = "USD"

/**
 * Asks for every retry that Plivo offers, except after a 4xx: a callback that was refused will be refused again. A fragment is for Plivo alone: it is neither sent nor signed.
 * https://www.plivo.com/docs/voice/concepts/callback-configurations
 */
const RETRIES = "#rc=5&rp=5xx,ct,rt"

/** The longest page of any list. */
const PAGE_SIZE = 20

const baseOf = ({ auth_id }: PlivoConfig): string => `/v1/Account/${encodeURIComponent(auth_id)}`

export const accountOf = (config: PlivoConfig) => ({
  provider: "plivo",
  displayName: "Plivo",
  origin: "https://api.plivo.com",
  authorization: `Basic ${Buffer.from(`${config.auth_id}:${config.auth_token}`).toString("base64")}`,
  check: {
    request: { method: "GET", path: `${baseOf(config)}/Number/?limit=1` } as const,
    statusOf: (outcome: Outcome) => standingBy(outcome, "objects")
  },
  advice: "Copy `auth_id` and `auth_token` from the overview page of Plivo's console."
})

const live: LiveCalls = {
  pathOf: (uuid, status) => `/Call/${uuid}/?status=${status}`,
  listPathOf: (status, to) => `/Call/?${new URLSearchParams({ status, call_direction: "outbound", to_number: digitsOf(to) ?? "" })}`,
  hasQueue: true
}

const records: Records = {
  pathOf: (uuid) => `/Call/${uuid}/`,
  searchPathOf: (to, from, since) => {
    // Times of filters are UTC; numbers are matched as prefixes.
    const end_time__gte = new Date(since).toISOString().slice(0, 19).replace("T", " ")
    const numbers = { to_number: digitsOf(to) ?? "", ...(from === undefined ? {} : { from_number: digitsOf(from) ?? "" }) }
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
        wasAnswered: seconds > 0 || (typeof answerTime === "string" && answerTime !== ""),
        seconds,
        endedAt: zonedTime(textAt(record, "end_time")),
        cost: { amount: textAt(record, "total_amount"), currency: CURRENCY }
      }
    }
  }
}

const listOfNumbers: Dialect["numbers"] = {
  pathOf: (page) => `/Number/?limit=${PAGE_SIZE}&offset=${page * PAGE_SIZE}`,
  pageIn: (body) => {
    const objects = at(body, "objects")
    if (!Array.isArray(objects)) return undefined
    const usable = objects.filter((one) => at(one, "voice_enabled") !== false).map((one) => digitsOf(textAt(one, "number")) ?? "")
    return {
      numbers: usable.filter((digits) => /^[1-9]\d{6,14}$/.test(digits)).map((digits) => `+${digits}`),
      isLast: textAt(body, "meta", "next") === undefined
    }
  }
}

export const openTrunk = Effect.fnUntraced(function* (config: PlivoConfig, context: TrunkContext) {
  const carrier = yield* openCarrier(accountOf(config), context)
  const line: Line = {
    carrier,
    dialect: { base: baseOf(config), retries: RETRIES, refusals, hasOneId: false, live, records, numbers: listOfNumbers },
    mediaUrl: context.mediaUrl,
    onEvent: context.onEvent
  }
  return yield* trunkOf(accountOf(config), carrier, context, {
    detects: true,
    originate: (callbackUrl, request) => originate(line, callbackUrl, request),
    hangup: (call) => hangup(line, call),
    lookup: (call) => lookup(line, call),
    sendDtmf: (call, digits) => sendDtmf(line, call, digits),
    numbers: numbers(line)
  })
})
