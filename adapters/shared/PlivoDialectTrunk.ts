/**
 * Calls through a carrier of Plivo's dialect. The carrier reports their progress in callbacks (`PlivoDialectCallback.ts`). The trunk has no
 * state per call: every verb finds it by its `CallRef`.
 */
import { Effect } from "effect"
import type { Look, OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import { type Addresses, trunkOf } from "./hostedTrunk.ts"
import type { HttpRequest } from "./HttpClient.ts"
import { at, textAt } from "./Json.ts"
import { allOf, type Page } from "./pages.ts"
import { idsOf, isUuid, nameOfRequest } from "./PlivoDialectIds.ts"
import { type LiveCalls, liveLookOf, lookOf, mayBe, type Records } from "./PlivoDialectRecords.ts"
import { acceptedBy } from "./PlivoDialectReplies.ts"
import { callBodyOf } from "./PlivoDialectRequest.ts"
import { transferOver } from "./PlivoDialectTransfer.ts"
import { isSuccess } from "./replies.ts"
import { get, send } from "./requests.ts"
import { calleeOf, sinceOf, theOneOf } from "./theOneOf.ts"
import { beginTransfer } from "./transfers.ts"

/** What the carriers of the dialect do differently. */
export interface Dialect {
  /** The path of the account, without a slash at its end. */
  readonly base: string
  /** Requests retries of callbacks; empty if the carrier has no such option. */
  readonly retries: string
  /** Additional members of the request for a call. */
  readonly alsoAsked?: (asked: ReturnType<typeof callBodyOf>) => object
  readonly live: LiveCalls
  readonly records: Records
  readonly numbers: Numbers
}

/** The carrier's list of the account's numbers; paths are below the account's, pages begin at 0. */
interface Numbers {
  readonly pathOf: (page: number) => string
  /** Undefined: not a page of the list. */
  readonly pageIn: (body: unknown) => Page | undefined
  /** In E.164; none if an entry is not a number that can call. */
  readonly numberIn: (entry: unknown) => ReadonlyArray<string>
}

interface Line {
  readonly dialect: Dialect
  readonly carrier: HostedCarrier
  readonly onEvent: TrunkContext["onEvent"]
}

/** How many live calls are searched at most, and how many at once. */
const MOST_SEARCHED = 50
const SEARCHED_AT_ONCE = 5

export const openTrunk = (carrier: HostedCarrier, context: TrunkContext, dialect: Dialect) => {
  const line: Line = { carrier, dialect, onEvent: context.onEvent }
  return trunkOf(carrier, context, {
    detects: true,
    originate: (request, addresses) => originate(line, request, addresses),
    hangup: (call) => hangup(line, call),
    lookup: (call) => lookup(line, call),
    sendDtmf: (call, digits) => sendDtmf(line, call, digits),
    transfer: (call, request) => transfer(line, context, call, request),
    numbers: numbers(line)
  })
}

const ask = ({ carrier, dialect }: Line, path: string) => carrier.ask("lookup", get(dialect.base + path), isSuccess)

const fetch = <A>({ carrier, dialect }: Line, path: string, read: (body: unknown) => A | undefined) =>
  carrier.fetch("lookup", get(dialect.base + path), read)

const originate = Effect.fn("plivoDialect.originate")(function* (line: Line, request: OriginateRequest, addresses: Addresses) {
  const { carrier, dialect, onEvent } = line
  const { callId, leave } = request
  const asked = callBodyOf(request, addresses, dialect.retries)
  const order = send("POST", `${dialect.base}/Call/`, { ...asked, ...dialect.alsoAsked?.(asked) })
  return yield* carrier.place({ ...order, leave: () => leave() }, (providerCallId, { body }, isAwaited) => {
    if (acceptedBy(body)?.isQueued === true) onEvent(callId, { _tag: "Queued" })
    // An awaited reply is the originate's result, which does not replace the id from a callback.
    if (!isAwaited) onEvent(callId, { _tag: "Named", providerCallId })
  })
})

const gone: Look = { presence: "gone", told: [] }

const lookup = Effect.fn("plivoDialect.lookup")(function* (line: Line, call: CallRef) {
  const ids = idsOf(call)
  // Often both are the same.
  const id = ids.call ?? ids.request
  const look = id === undefined ? undefined : ((yield* liveLook(line, id, call)) ?? (yield* recordLook(line, id, call)))
  return look ?? (ids.call === undefined ? yield* search(line, call) : gone)
})

/** A call moves from the queue to the live calls, so asking in this order cannot miss it. */
const states = ["queued", "live"] as const

const liveLook = Effect.fnUntraced(function* (line: Line, id: string, call: CallRef) {
  const { live } = line.dialect
  for (const state of states) {
    const look = yield* fetch(line, live.pathOf(id, state), (body) => liveLookOf(body, call, live))
    if (look !== undefined) return look
  }
  return undefined
})

const recordLook = (line: Line, id: string, call: CallRef) => {
  const { oneIn, pathOf, read } = line.dialect.records
  return fetch(line, pathOf(id), (body) => {
    const record = read(oneIn(body))
    return record?.uuid === id ? lookOf(call, record) : undefined
  })
}

/** Finds a call by its numbers, first among the live ones, then among those that have ended. It can still appear later. */
const search = Effect.fnUntraced(function* (line: Line, call: CallRef) {
  const { carrier, dialect } = line
  const { allIn, read, searchPathOf } = dialect.records
  const to = yield* calleeOf(carrier, call)
  const live = yield* searchLive(line, call, to)
  if (live !== undefined) return live
  const { body } = yield* ask(line, searchPathOf(to, call.from, sinceOf(call)))
  const all = allIn(body)
  if (all === undefined) return yield* carrier.error("lookup", "not the whole list of calls to this number")
  const records = all.map(read).filter((record) => record !== undefined)
  const found = yield* theOneOf(namedTwice(carrier), call, records, (record) => (mayBe(record, call) ? record.uuid : undefined))
  return found === undefined ? gone : lookOf(call, found.record)
})

const searchLive = Effect.fnUntraced(function* (line: Line, call: CallRef, to: string) {
  const { carrier, dialect } = line
  const found: Array<{ readonly look: Look; readonly uuid: string | undefined }> = []
  for (const state of states) {
    const uuids = at((yield* ask(line, dialect.live.listPathOf(state, to))).body, "calls")
    if (!Array.isArray(uuids)) return yield* carrier.error("lookup", "not a list of calls")
    if (uuids.length > MOST_SEARCHED) return yield* carrier.error("lookup", "too many live calls")
    const bodies = yield* Effect.forEach(
      uuids.filter(isUuid),
      (uuid) => fetch(line, dialect.live.pathOf(uuid, state), (body) => ({ body })),
      { concurrency: SEARCHED_AT_ONCE }
    )
    for (const read of bodies) {
      const look = liveLookOf(read?.body, call, dialect.live)
      if (look !== undefined) found.push({ look, uuid: textAt(read?.body, "call_uuid") })
    }
  }
  // A call that left the queue in between is found twice.
  return (yield* theOneOf(namedTwice(carrier), call, found, ({ uuid }) => uuid))?.record.look
})

/** Another call may be known only by its request, whose id is often that of the call too. */
const namedTwice = ({ error, isOthers }: HostedCarrier): Pick<HostedCarrier, "error" | "isOthers"> => ({
  error,
  isOthers: (call, uuid) => Effect.flatMap(isOthers(call, uuid), (is) => (is ? Effect.succeed(true) : isOthers(call, nameOfRequest(uuid))))
})

/** False: the carrier does not know it. With an empty id, the request would hang up all calls of the account. */
const remove = ({ carrier, dialect }: Line, resource: "Call" | "Request", id: string) => {
  const { isMissing } = carrier.account.replies
  const request: HttpRequest = { method: "DELETE", path: `${dialect.base}/${resource}/${id}/` }
  return Effect.map(
    carrier.ask("hangup", request, (reply) => reply.status === 204 || isMissing(reply)),
    (reply) => !isMissing(reply)
  )
}

const hangup = Effect.fn("plivoDialect.hangup")(function* (line: Line, call: CallRef) {
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

const sendDtmf = Effect.fn("plivoDialect.sendDtmf")(function* (line: Line, call: CallRef, digits: string) {
  const { carrier, dialect } = line
  const { call: uuid } = idsOf(call)
  if (!/^[0-9*#]{1,64}$/.test(digits)) return yield* carrier.error("sendDtmf", "not DTMF digits")
  if (uuid === undefined) return yield* carrier.error("sendDtmf", "the carrier's id of the call is not known yet")
  // The callee is the only leg of the call, which makes it the first.
  const request = send("POST", `${dialect.base}/Call/${uuid}/DTMF/`, { digits, leg: "aleg" })
  yield* carrier.ask("sendDtmf", request, (reply) => isSuccess(reply) && at(reply.body, "error") === undefined)
})

const transfer = Effect.fn("plivoDialect.transfer")(function* (line: Line, context: TrunkContext, call: CallRef, request: TransferRequest) {
  const { carrier, dialect } = line
  const { call: uuid } = idsOf(call)
  if (uuid === undefined) return yield* new TransferRefused({ detail: "the carrier's id of the call is not known yet" })
  yield* beginTransfer(carrier, context, transferOver(dialect.base, dialect.retries), uuid, call, request)
})

const numbers = ({ carrier, dialect }: Line) =>
  Effect.map(
    allOf(carrier, "numbers", ({ pages }) => get(dialect.base + dialect.numbers.pathOf(pages)), dialect.numbers.pageIn),
    (entries) => entries.flatMap(dialect.numbers.numberIn)
  )
