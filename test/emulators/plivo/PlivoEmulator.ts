/** Plivo: basic authentication, a queue, two ids for each call, and its own lists of records and numbers. */
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { DialectCall } from "#test/emulators/shared/PlivoDialectCall.ts"
import { started } from "#test/emulators/shared/HostedEmulator.ts"
import { bodyOf, DialectEmulator, type DialectOptions, errorOf, type Traits } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { signed, upgradeHeaders } from "./signed.ts"

export const account = { authId: "MAXXXXXXXXXXXXXXXXXX", authToken: "plivo-auth-token-0001" }
const base = `/v1/Account/${account.authId}`
const mostListed = 20

export const startPlivoEmulator = (options: DialectOptions) => started(new DialectEmulator(options, traits))

const traits: Traits = {
  ...account,
  provider: "plivo",
  media: { namesStream: true, retries: 2, tellsKeys: true, upgradeHeaders: (url) => upgradeHeaders(url, account.authToken) },
  hasOneId: false,
  isAlwaysCompleted: false,
  tellsCodes: true,
  isQueued: ({ state }) => state === "queued",
  placedStatus: 201,
  queues: true,
  signed: (url, fields) => signed(url, fields, account.authToken),
  pathOf: ({ headers, path }) => {
    const expected = `Basic ${Buffer.from(`${account.authId}:${account.authToken}`).toString("base64")}`
    if (headers["authorization"] !== expected) return errorOf(401, "authentication failed")
    return path.startsWith(`${base}/`) && path.endsWith("/") ? path.slice(base.length) : errorOf(404, "not found")
  },
  answerMore: (emulator, ask, path) => {
    const [, resource, id] = /^\/(Call|Number|Request)\/(?:([^/]+)\/)?$/.exec(path) ?? []
    if (resource === "Request" && id !== undefined && ask.method === "DELETE") return cancelled(emulator, id)
    if (ask.method !== "GET" || ask.query.has("status")) return undefined
    if (resource === "Number" && id === undefined) return numbersOf(emulator, ask)
    if (resource !== "Call") return undefined
    return id === undefined ? recordsOf(emulator, ask) : recordOf(emulator, id)
  }
}

/** A request whose call has been answered cannot be canceled any more. */
const cancelled = ({ calls }: DialectEmulator, requestUuid: string): CarrierAnswer => {
  const call = [...calls.values()].find((one) => one.requestUuid === requestUuid)
  if (call === undefined || call.state === "in-progress" || !call.hangUp()) return errorOf(404, "request not found")
  return { status: 204 }
}

const detailsOf = ({ answeredAt, cost, createdAt, dialed, end, endedAt, seconds, uuid: call_uuid }: DialectCall) => ({
  answer_time: DialectCall.zoned(answeredAt),
  bill_duration: seconds,
  call_direction: "outbound",
  call_uuid,
  end_time: DialectCall.zoned(endedAt),
  from_number: `+${dialed.from}`,
  hangup_cause_code: end?.code,
  hangup_cause_name: end?.name,
  initiation_time: DialectCall.zoned(createdAt),
  to_number: dialed.to,
  total_amount: cost
})

const recordOf = (emulator: DialectEmulator, uuid: string): CarrierAnswer => {
  const call = emulator.calls.get(uuid)
  return call !== undefined && emulator.isRecorded(call) ? bodyOf(detailsOf(call)) : errorOf(404, "call not found")
}

/** Lists the newest first; `from_number` and `to_number` also match as prefixes, and times are UTC. */
const recordsOf = (emulator: DialectEmulator, { query }: CarrierAsk): CarrierAnswer => {
  const [from, to, since] = [query.get("from_number"), query.get("to_number"), query.get("end_time__gte")]
  const calls = [...emulator.calls.values()]
    .filter((call) => emulator.isRecorded(call))
    .filter(({ dialed }) => (from === null || dialed.from.startsWith(from)) && (to === null || dialed.to.startsWith(to)))
    .filter(({ endedAt = 0 }) => since === null || endedAt >= Date.parse(`${since}Z`))
    .toReversed()
  return pageOf(calls.map(detailsOf), query, `${base}/Call/`)
}

const numbersOf = ({ numbers: owned }: DialectEmulator, { query }: CarrierAsk): CarrierAnswer => {
  const numbers = owned.map((number) => ({ active: true, number: number.slice(1), number_type: "local", voice_enabled: true }))
  return pageOf(numbers, query, `${base}/Number/`)
}

const pageOf = (objects: ReadonlyArray<object>, query: URLSearchParams, path: string): CarrierAnswer => {
  const limit = Math.min(Number(query.get("limit") ?? mostListed), mostListed)
  const offset = Number(query.get("offset") ?? 0)
  const after = offset + limit
  const next = after < objects.length ? `${path}?limit=${limit}&offset=${after}` : null
  const meta = { limit, next, offset, previous: null, total_count: objects.length }
  return bodyOf({ meta, objects: objects.slice(offset, after) })
}
