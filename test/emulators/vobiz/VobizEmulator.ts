/** Vobiz: its own headers for the credentials, case-sensitive paths whose slashes matter, no queue, one id for each call, and its own list of records. */
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import type { DialectCall } from "#test/emulators/shared/PlivoDialectCall.ts"
import { started } from "#test/emulators/shared/HostedEmulator.ts"
import { DialectEmulator, type DialectOptions, errorOf, type Traits } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { signatureOf, signed } from "./signed.ts"

export const account = { authId: "MA_7XK2P9QD", authToken: "vobiz-auth-token-0001" }
const base = `/api/v1/Account/${account.authId}`

export const startVobizEmulator = (options: DialectOptions) => started(new DialectEmulator(options, traits))

const isGiven = ({ headers }: CarrierAsk): boolean =>
  headers["x-auth-id"] === account.authId && headers["x-auth-token"] === account.authToken && headers["authorization"] === undefined

const traits: Traits = {
  ...account,
  provider: "vobiz",
  media: { namesStream: false, retries: 0, tellsKeys: false, upgradeHeaders: (url) => signatureOf(url, account.authToken) },
  hasOneId: true,
  isAlwaysCompleted: true,
  tellsCodes: false,
  placedStatus: 200,
  queues: false,
  // A call that has not been answered yet.
  isQueued: ({ state }) => state !== "in-progress",
  signed: (url, fields) => signed(url, fields, account.authToken),
  pathOf: (ask) => {
    // A path in the wrong case is answered like wrong credentials.
    if (!isGiven(ask) || (!ask.path.startsWith(`${base}/`) && ask.path.toLowerCase().startsWith(base.toLowerCase())))
      return errorOf(401, "authentication failed")
    if (!ask.path.startsWith(`${base}/`)) return errorOf(404, "not found")
    const path = ask.path.slice(base.length)
    const isLive = ask.method === "GET" && (path === "/Call" ? ask.query.get("status") === "live" : /^\/Call\/[^/]+$/.test(path))
    return isLive ? `${path}/` : path
  },
  answerMore: (emulator, { method, query }, path) => {
    if (method !== "GET") return undefined
    if (path === "/numbers") return numbersOf(emulator, query)
    if (path === "/cdr") return recordsOf(emulator, query)
    const [, uuid] = /^\/cdr\/([^/]+)$/.exec(path) ?? []
    const call = emulator.calls.get(uuid ?? "")
    if (uuid === undefined) return undefined
    const isThere = call !== undefined && emulator.isRecorded(call)
    return isThere ? { status: 200, body: { data: detailsOf(call), success: true } } : errorOf(404, "record not found")
  }
}

const iso = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

const detailsOf = ({ answeredAt, cost, createdAt, dialed, end, endedAt, seconds, uuid }: DialectCall) => ({
  answer_time: iso(answeredAt),
  billsec: seconds,
  call_direction: "outbound",
  caller_id_number: `+${dialed.from}`,
  currency: "INR",
  destination_number: `+${dialed.to}`,
  end_time: iso(endedAt),
  hangup_cause: end?.word,
  hangup_cause_code: end?.code,
  hangup_cause_name: end?.name,
  start_time: iso(createdAt),
  total_cost: Number(cost),
  uuid
})

/** Lists the newest first. Dates count only if both are given. */
const recordsOf = (emulator: DialectEmulator, query: URLSearchParams): CarrierAnswer => {
  const [to, start, end] = [query.get("to_number") ?? "", query.get("start_date"), query.get("end_date")]
  const isBetween = (at: number) => start === null || end === null || (at >= Date.parse(start) && at < Date.parse(end) + 86_400_000)
  const calls = [...emulator.calls.values()]
    .filter((call) => emulator.isRecorded(call) && call.dialed.to.includes(to) && isBetween(call.createdAt))
    .toReversed()
  const size = Number(query.get("per_page") ?? 20)
  const data = calls.slice(0, size).map(detailsOf)
  return {
    status: 200,
    body: { count: data.length, data, pagination: { has_next: calls.length > size, page: 1, per_page: size }, success: true }
  }
}

const numbersOf = ({ numbers: owned }: DialectEmulator, query: URLSearchParams): CarrierAnswer => {
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)]
  const items = owned.slice((page - 1) * size, page * size).map((e164) => ({ e164, status: "active" }))
  return { status: 200, body: { items, page, per_page: size, total: owned.length } }
}
