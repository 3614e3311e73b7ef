/**
 * Calls through a carrier of Plivo's dialect. What becomes of them, the carrier tells in callbacks (`PlivoDialectCallback.ts`). Nothing is remembered
 * of a call: every verb finds it by its `CallRef`.
 */
import { Effect } from "effect"
import type { Look, OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { asOutcome, type HostedCarrier } from "./HostedCarrier.ts"
import type { HttpRequest, Reply } from "./HttpClient.ts"
import { at } from "./Json.ts"
import { doubtOf, isSuccess } from "./originated.ts"
import { idsOf, isUuid, nameOfRequest } from "./PlivoDialectIds.ts"
import { type LiveCalls, liveLookOf, lookOf, type Records, sinceOf, theOneOf } from "./PlivoDialectRecords.ts"
import { acceptedBy, detailOf, isUnknown, type Refusals, refusalOf } from "./PlivoDialectReplies.ts"
import { type Addresses, callBodyOf } from "./PlivoDialectRequest.ts"

/** What the carriers of the dialect do differently. */
export interface Dialect {
  /** The path of the account, without a slash at its end. */
  readonly base: string
  /** Asks for repeats of a callback; empty where the carrier has no such thing. */
  readonly retries: string
  readonly refusals: Refusals
  /** The id of a request is that of its call. */
  readonly hasOneId: boolean
  /** What the request for a call says besides. */
  readonly alsoAsked?: (asked: ReturnType<typeof callBodyOf>) => object
  readonly live: LiveCalls
  readonly records: Records
  readonly numbers: Numbers
}

/** The carrier's list of the account's numbers; paths are below the account's, pages begin at 0. */
interface Numbers {
  readonly pathOf: (page: number) => string
  /** In E.164. Undefined: not a page of the list. */
  readonly pageIn: (body: unknown) => { readonly numbers: ReadonlyArray<string>; readonly isLast: boolean } | undefined
}

export interface Line {
  readonly dialect: Dialect
  readonly carrier: HostedCarrier
  readonly mediaUrl: TrunkContext["mediaUrl"]
  readonly onEvent: TrunkContext["onEvent"]
}

/** More live calls than this are not searched, so many of them at once. */
const MOST_SEARCHED = 50
const SEARCHED_AT_ONCE = 5
const MOST_PAGES = 100

const get = ({ dialect }: Line, path: string): HttpRequest => ({ method: "GET", path: dialect.base + path })

/** Fails unless the carrier answers, or says that it does not know what was asked for. */
const ask = ({ carrier }: Line, operation: string, request: HttpRequest, isExpected: (reply: Reply) => boolean) =>
  Effect.filterOrFail(
    carrier.ask(operation, request),
    (reply) => isExpected(reply) || isUnknown(reply),
    (reply) => carrier.error(operation, detailOf(reply))
  )

const isOk = ({ status }: Reply): boolean => status === 200

export const originate = Effect.fn("plivoDialect.originate")(function* (line: Line, callbackUrl: Addresses, request: OriginateRequest) {
  const { carrier, dialect, mediaUrl, onEvent } = line
  const { callId, leave } = request
  const nameOf = (uuid: string) => (dialect.hasOneId ? uuid : nameOfRequest(uuid))
  const asked = callBodyOf(request, { callbackUrl, mediaUrl: mediaUrl?.(callId), retries: dialect.retries })
  const body = { mediaType: "application/json", text: JSON.stringify({ ...asked, ...dialect.alsoAsked?.(asked) }) }
  let isAwaited = true
  const placing = carrier.http.place({ method: "POST", path: `${dialect.base}/Call/`, body, leave: () => leave() }, (settled) => {
    const accepted = acceptedBy(settled)
    if (accepted?.isQueued === true) onEvent(callId, { _tag: "Queued" })
    // A reply that comes too late for the originate. One in time is its result, which does not replace the name that a callback gave.
    if (accepted !== undefined && !isAwaited) onEvent(callId, { _tag: "Named", providerCallId: nameOf(accepted.requestUuid) })
  })
  const noLonger = Effect.sync(() => {
    isAwaited = false
  })
  const outcome = yield* Effect.ensuring(asOutcome(placing), noLonger)
  const accepted = acceptedBy(outcome)
  if (accepted === undefined) return yield* refusalOf(outcome, dialect.refusals) ?? doubtOf(outcome, detailOf)
  return { providerCallId: nameOf(accepted.requestUuid) }
})

const gone: Look = { presence: "gone", told: [] }

export const lookup = Effect.fn("plivoDialect.lookup")(function* (line: Line, call: CallRef) {
  const ids = idsOf(call)
  // Often both are the same.
  const id = ids.call ?? ids.request
  const look = id === undefined ? undefined : ((yield* liveLook(line, id, call)) ?? (yield* recordLook(line, id, call)))
  return look ?? (ids.call === undefined ? yield* search(line, call) : gone)
})

/** A call moves from the queue to the live calls, so asking in this order cannot miss it. */
const states = ["queued", "live"] as const

const liveLook = Effect.fnUntraced(function* (line: Line, id: string, call: CallRef) {
  for (const state of states) {
    const reply = yield* ask(line, "lookup", get(line, line.dialect.live.pathOf(id, state)), isOk)
    const look = liveLookOf(reply.body, call, line.dialect.live)
    if (look !== undefined) return look
    if (isOk(reply)) return yield* line.carrier.error("lookup", "not the record of the call")
  }
  return undefined
})

const recordLook = Effect.fnUntraced(function* (line: Line, id: string, call: CallRef) {
  const { records } = line.dialect
  const reply = yield* ask(line, "lookup", get(line, records.pathOf(id)), isOk)
  if (isUnknown(reply)) return undefined
  const record = records.read(records.oneIn(reply.body))
  if (record?.uuid !== id) return yield* line.carrier.error("lookup", "not the record of the call")
  return lookOf(call, record)
})

/** Finds a call by its numbers, first among those that live, then among those that have ended. It can still appear later. */
const search = Effect.fnUntraced(function* (line: Line, call: CallRef) {
  const { carrier, dialect } = line
  const { from, to } = call
  if (to === undefined) return yield* carrier.error("lookup", "neither the call's id nor its number is known")
  const live = yield* searchLive(line, call, to)
  if (live !== undefined) return live
  const reply = yield* ask(line, "lookup", get(line, dialect.records.searchPathOf(to, from, sinceOf(call))), isOk)
  const found = theOneOf(reply, call, dialect.records)
  if (typeof found === "string") return yield* carrier.error("lookup", found)
  return found === undefined ? gone : lookOf(call, found)
})

const searchLive = Effect.fnUntraced(function* (line: Line, call: CallRef, to: string) {
  const { carrier, dialect } = line
  const looks: Array<Look> = []
  for (const state of states) {
    const reply = yield* ask(line, "lookup", get(line, dialect.live.listPathOf(state, to)), isOk)
    const uuids = at(reply.body, "calls")
    if (!Array.isArray(uuids)) return yield* carrier.error("lookup", "not a list of calls")
    if (uuids.length > MOST_SEARCHED) return yield* carrier.error("lookup", "too many live calls")
    const records = yield* Effect.forEach(
      uuids.filter(isUuid),
      (uuid) => ask(line, "lookup", get(line, dialect.live.pathOf(uuid, state)), isOk),
      { concurrency: SEARCHED_AT_ONCE }
    )
    looks.push(...records.flatMap(({ body }) => liveLookOf(body, call, dialect.live) ?? []))
  }
  // A call that left the queue in between is found twice.
  const found = new Map(looks.map((look) => [JSON.stringify(look.told), look]))
  if (found.size > 1) return yield* carrier.error("lookup", "several calls to this number")
  return looks.at(-1)
})

/** False: the carrier does not know it. With an empty id, the request would hang up all calls of the account. */
const remove = (line: Line, resource: "Call" | "Request", id: string) =>
  Effect.map(
    ask(line, "hangup", { method: "DELETE", path: `${line.dialect.base}/${resource}/${id}/` }, ({ status }) => status === 204),
    (reply) => !isUnknown(reply)
  )

export const hangup = Effect.fn("plivoDialect.hangup")(function* (line: Line, call: CallRef) {
  const ids = idsOf(call)
  if (ids.request !== undefined && (yield* remove(line, "Request", ids.request))) return
  const id = ids.call ?? ids.request
  if (id !== undefined && (yield* remove(line, "Call", id))) return
  if (ids.call !== undefined) return
  const { presence, told } = yield* lookup(line, call)
  if (presence === "ended") return
  const [named] = told
  if (named?._tag !== "Named" || !isUuid(named.providerCallId)) return yield* line.carrier.error("hangup", "there is no trace of the call")
  yield* remove(line, "Call", named.providerCallId)
})

export const sendDtmf = Effect.fn("plivoDialect.sendDtmf")(function* (line: Line, call: CallRef, digits: string) {
  const { carrier, dialect } = line
  const { call: uuid } = idsOf(call)
  if (!/^[0-9*#]{1,64}$/.test(digits)) return yield* carrier.error("sendDtmf", "not DTMF digits")
  if (uuid === undefined) return yield* carrier.error("sendDtmf", "the carrier's id of the call is not known yet")
  // The callee is the only leg of the call, which makes it the first.
  const body = { mediaType: "application/json", text: JSON.stringify({ digits, leg: "aleg" }) }
  const reply = yield* carrier.ask("sendDtmf", { method: "POST", path: `${dialect.base}/Call/${uuid}/DTMF/`, body })
  if (!isSuccess(reply) || at(reply.body, "error") !== undefined) return yield* carrier.error("sendDtmf", detailOf(reply))
})

export const numbers = Effect.fn("plivoDialect.numbers")(function* (line: Line) {
  const { carrier, dialect } = line
  const all: Array<string> = []
  for (let page = 0; page < MOST_PAGES; page++) {
    const reply = yield* ask(line, "numbers", get(line, dialect.numbers.pathOf(page)), isOk)
    const found = dialect.numbers.pageIn(reply.body)
    if (found === undefined) return yield* carrier.error("numbers", "not a list of numbers")
    all.push(...found.numbers)
    if (found.isLast) return all
  }
  return yield* carrier.error("numbers", "too many numbers")
})
