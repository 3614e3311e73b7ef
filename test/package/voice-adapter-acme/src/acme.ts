/**
 * Acme Voice, an invented carrier: calls are placed over REST under our own id and followed through signed callbacks. It carries no audio, and exists
 * only in `test/AcmeCarrier.ts`.
 */
import { Effect } from "effect"
import {
  type Account,
  bearer,
  type Callback,
  type CallbackRead,
  type CarrierReplies,
  type CarrierRequest,
  Credential,
  defineHostedAdapter,
  eventsFor,
  get,
  type HangupCause,
  Hmac,
  type HostedCarrier,
  Json,
  type Look,
  openTrunk,
  type Proof,
  type Refusal,
  type Reply,
  send,
  type TrunkContext,
  type TrunkEvent
} from "trunkline/adapter"

interface Config {
  readonly endpoint: string
  readonly token: string
}

const pathOf = (callId: string) => `/calls/${callId}`
const idIn = (call: unknown) => Json.textAt(call, "id")

/** The code of Acme's own error. A reply without one may come from a proxy, and proves nothing. */
const codeOf = ({ body, status }: Reply) => (status < 400 ? undefined : Json.textAt(body, "code"))

const refusals: Readonly<Record<string, Refusal>> = {
  invalid_from: { reason: "caller_id_refused" },
  invalid_to: { reason: "number_refused", cause: "invalid_number_format" },
  no_credit: { reason: "no_credit" },
  too_many: { reason: "rate_limited" },
  unauthorized: { reason: "auth_refused" }
}

/** What a reply proves. */
const replies: CarrierReplies = {
  errorIn: codeOf,
  isMissing: (reply) => codeOf(reply) === "unknown_call",
  placedIn: idIn,
  refusalIn: (reply) => refusals[codeOf(reply) ?? ""]
}

const accountOf = ({ endpoint, token }: Config): Account => ({
  origin: endpoint,
  authorization: bearer(token),
  replies,
  check: { request: get("/account"), isShownBy: (body) => Json.textAt(body, "account") !== undefined, refusedWith: [401] },
  advice: "Copy the token from Acme's console."
})

const causes: Readonly<Record<string, HangupCause>> = {
  busy: "user_busy",
  canceled: "originator_cancel",
  completed: "normal_clearing",
  congested: "congestion",
  "no-answer": "no_answer",
  rejected: "call_rejected",
  "unknown-number": "unallocated_number"
}
/** Callbacks and records have the same members. */
const eventOf = (told: unknown): TrunkEvent | undefined => {
  const status = Json.textAt(told, "status") ?? ""
  const at = Json.numberAt(told, "at")
  const time = at === undefined ? {} : { at }
  if (status === "ringing") return { _tag: "Rang" }
  if (status === "answered") return { _tag: "Answered", ...time }
  const cause = causes[status]
  return cause === undefined ? undefined : { _tag: "HungUp", cause, ...time }
}

const lookOf = (record: unknown): Look | undefined => {
  if (idIn(record) === undefined) return undefined
  const event = eventOf(record)
  const answeredAt = Json.numberAt(record, "answered_at")
  const answered: ReadonlyArray<TrunkEvent> = answeredAt === undefined ? [] : [{ _tag: "Answered", at: answeredAt }]
  if (event?._tag === "HungUp") return { presence: "ended", told: [...answered, event] }
  return { presence: answeredAt === undefined ? "ringing" : "up", told: answered }
}

const connect = (carrier: HostedCarrier, _: Config, context: TrunkContext) => {
  const look = (callId: string) => carrier.fetch("lookup", get(pathOf(callId)), lookOf)
  return openTrunk(carrier, context, {
    isId: (id) => /^[\w-]{1,64}$/.test(id),
    order: ({ callId, from, ringTimeoutSeconds, to }, { callbackUrl }) =>
      send("POST", "/calls", { id: callId, to, from, ring_seconds: ringTimeoutSeconds, status_url: callbackUrl("status", callId) }),
    hangup: (callId) => carrier.fetch("hangup", send("POST", `${pathOf(callId)}/hangup`, {}), idIn),
    look,
    // Acme accepts our id of the call.
    find: ({ callId }) => Effect.map(look(callId), (found) => found && { providerCallId: callId, look: found })
  })
}

/** Acme signs only the body. */
const proofOf = ({ body, headers }: CarrierRequest, { token }: Config): Proof | undefined => {
  const expected = Hmac.hmac("sha256", token, new TextDecoder().decode(body)).toString("hex")
  return Hmac.isSameText(headers["acme-signature"], expected) ? { coversBody: true, nonce: undefined } : undefined
}

/** Only a callback whose body names the call of its address is read. */
const read = ({ body, call }: Callback): CallbackRead => {
  const told = Json.parseBytes(body)
  const [id, event] = [idIn(told), eventOf(told)]
  // The first one names the call, in case the reply was lost.
  return { events: id === undefined || id !== call?.callId || event === undefined ? [] : eventsFor(call, id, [event]) }
}

export default defineHostedAdapter({
  manifest: {
    provider: "acme",
    displayName: "Acme",
    docsUrl: "https://acme.example.com/docs",
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "unnamed"],
    signs: ["body"]
  },
  fields: {
    endpoint: Credential.address({ label: "Endpoint", placeholder: "https://api.acme.example.com" }),
    token: Credential.token({ label: "Token", description: "Authenticates requests, and signs Acme's callbacks" })
  },
  account: accountOf,
  rateKey: ({ token }) => token,
  connect,
  callbackHeaders: ["acme-signature"],
  proofOf,
  read
})
