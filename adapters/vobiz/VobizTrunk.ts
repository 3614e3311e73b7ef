/** Vobiz' account, records and list of numbers. The rest of the trunk is that of Plivo's dialect. */
import { Effect } from "effect"
import { openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { Outcome } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, textAt, timeIn } from "#adapters/shared/Json.ts"
import { isUuid } from "#adapters/shared/PlivoDialectIds.ts"
import { digitsOf, type LiveCalls, type Records } from "#adapters/shared/PlivoDialectRecords.ts"
import { standingBy } from "#adapters/shared/PlivoDialectReplies.ts"
import { type Dialect, hangup, type Line, lookup, numbers, originate, sendDtmf } from "#adapters/shared/PlivoDialectTrunk.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"
import { refusals } from "./vobizCodes.ts"

interface VobizConfig {
  readonly auth_id: string
  readonly auth_token: string
}

/** The longest page of any list. */
const PAGE_SIZE = 100
const DAY_MILLIS = 86_400_000

/** Upper and lower case matter, and so do slashes at the end. */
const baseOf = ({ auth_id }: VobizConfig): string => `/api/v1/Account/${encodeURIComponent(auth_id)}`

export const accountOf = (config: VobizConfig) => ({
  provider: "vobiz",
  displayName: "Vobiz",
  origin: "https://api.vobiz.ai",
  headers: { "x-auth-id": config.auth_id, "x-auth-token": config.auth_token },
  check: {
    request: { method: "GET", path: `${baseOf(config)}/Call?status=live` } as const,
    statusOf: (outcome: Outcome) => standingBy(outcome, "calls")
  },
  advice: "Copy `auth_id` and `auth_token` from Vobiz' console."
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
    // In which time zone the days are is not documented.
    const [start_date, end_date] = [dayOf(since - DAY_MILLIS), dayOf(since + 2 * DAY_MILLIS)]
    const query = { to_number: digitsOf(to) ?? "", call_direction: "outbound", start_date, end_date, per_page: String(PAGE_SIZE) }
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
        word: textAt(record, "hangup_cause"),
        wasAnswered: seconds > 0 || (textAt(record, "answer_time") ?? "") !== "",
        seconds,
        endedAt: timeIn(textAt(record, "end_time")),
        cost: { amount: amountIn(at(record, "total_cost")), currency: textAt(record, "currency") ?? "" }
      }
    }
  }
}

/** With what the stream has cost. */
const amountIn = (cost: unknown): string | undefined => (typeof cost === "number" || typeof cost === "string" ? String(cost) : undefined)

const listOfNumbers: Dialect["numbers"] = {
  pathOf: (page) => `/numbers?page=${page + 1}&per_page=${PAGE_SIZE}`,
  pageIn: (body) => {
    const items = at(body, "items")
    if (!Array.isArray(items)) return undefined
    const digits = items.map((one) => digitsOf(textAt(one, "e164")) ?? "")
    return { numbers: digits.filter((one) => /^[1-9]\d{6,14}$/.test(one)).map((one) => `+${one}`), isLast: items.length < PAGE_SIZE }
  }
}

export const openTrunk = Effect.fnUntraced(function* (config: VobizConfig, context: TrunkContext) {
  const carrier = yield* openCarrier(accountOf(config), context)
  const line: Line = {
    carrier,
    dialect: {
      base: baseOf(config),
      // No way to ask for repeats is documented.
      retries: "",
      refusals,
      hasOneId: true,
      // Documented is this limit alone; `ring_timeout` is in an example.
      alsoAsked: ({ ring_timeout }) => ({ hangup_on_ring: ring_timeout }),
      live,
      records,
      numbers: listOfNumbers
    },
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
