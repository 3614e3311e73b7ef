/**
 * Acme Voice, an invented carrier: calls are placed over REST under our own id and followed through signed callbacks. It carries no audio. `test/AcmeCarrier.ts`
 * is all there is of it.
 */
import { Effect } from "effect"
import {
  asOutcome,
  type Callback,
  type CallbackRead,
  type CallRef,
  Credential,
  defineAdapter,
  doubtOf,
  type HangupCause,
  Hmac,
  type HttpRequest,
  isSuccess,
  Json,
  type Look,
  notSent,
  openCarrier,
  OriginateRefused,
  type OriginateRequest,
  type Outcome,
  publicAddressStep,
  type Reply,
  type TrunkContext,
  type TrunkEvent,
  trunkOf,
  type TrunkStatus,
  verifyAccount
} from "trunkline/adapter"

interface Config {
  readonly endpoint: string
  readonly token: string
}

const get = (path: string): HttpRequest => ({ method: "GET", path })
const post = (path: string, body: object): HttpRequest => ({
  method: "POST",
  path,
  body: { mediaType: "application/json", text: JSON.stringify(body) }
})
const pathOf = ({ callId }: Pick<CallRef, "callId">) => `/calls/${callId}`

/** What Acme calls an error. A reply without one may come from anybody on the way, and proves nothing. */
const codeOf = ({ body }: Reply) => Json.textAt(body, "code")

const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
const statusOf = (outcome: Outcome): TrunkStatus => {
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (codeOf(outcome) === "unauthorized") return down("auth", "Acme refuses the token")
  return Json.textAt(outcome.body, "account") === undefined ? down("unreachable", `HTTP ${outcome.status}`) : { _tag: "Up" }
}

const accountOf = ({ endpoint, token }: Config) => ({
  provider: "acme",
  displayName: "Acme",
  origin: endpoint,
  // Other characters come from pasting, and could not be sent in a header.
  authorization: `Bearer ${token.replace(/[^!-~]/g, "")}`,
  check: { request: get("/account"), statusOf },
  advice: "Copy the token from Acme's console."
})

const refusals: Readonly<Record<string, Omit<ConstructorParameters<typeof OriginateRefused>[0], "detail">>> = {
  invalid_from: { reason: "caller_id_refused" },
  invalid_to: { reason: "number_refused", cause: "invalid_number_format" },
  no_credit: { reason: "no_credit" },
  too_many: { reason: "rate_limited" },
  unauthorized: { reason: "auth_refused" }
}

const isPlaced = (outcome: Outcome, { callId }: OriginateRequest) =>
  "status" in outcome && isSuccess(outcome) && Json.textAt(outcome.body, "id") === callId

/** What the outcome of a request for a call proves. */
const originated = (outcome: Outcome, request: OriginateRequest) => {
  if (isPlaced(outcome, request)) return Effect.succeed({ providerCallId: request.callId })
  if (!("status" in outcome)) return Effect.fail(notSent(outcome) ?? doubtOf(outcome, () => ""))
  const code = codeOf(outcome)
  const refusal = code === undefined || outcome.status < 400 ? undefined : refusals[code]
  if (refusal === undefined) return Effect.fail(doubtOf(outcome, ({ status }) => `HTTP ${status}`))
  const { retryAfterMillis } = outcome
  return Effect.fail(
    new OriginateRefused({ ...refusal, detail: `Acme says ${code}`, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) })
  )
}

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

const lookOf = (record: unknown): Look => {
  const event = eventOf(record)
  const answeredAt = Json.numberAt(record, "answered_at")
  const answered: ReadonlyArray<TrunkEvent> = answeredAt === undefined ? [] : [{ _tag: "Answered", at: answeredAt }]
  if (event?._tag === "HungUp") return { presence: "ended", told: [...answered, event] }
  return { presence: answeredAt === undefined ? "ringing" : "up", told: answered }
}

const connect = Effect.fn("acme.connect")(function* (config: Config, context: TrunkContext) {
  const account = accountOf(config)
  const carrier = yield* openCarrier(account, context)
  const originate = Effect.fnUntraced(function* (statusUrl: string, request: OriginateRequest) {
    const { callId, from, leave, ringTimeoutSeconds, to } = request
    const body = { id: callId, to, from, ring_seconds: ringTimeoutSeconds, status_url: statusUrl }
    // Never repeated, and asked about before its first byte. Its reply may come when nobody waits for it any more.
    const outcome = yield* asOutcome(
      carrier.http.place({ ...post("/calls", body), leave: () => leave() }, (settled) => {
        if (isPlaced(settled, request)) context.onEvent(callId, { _tag: "Named", providerCallId: callId })
      })
    )
    return yield* originated(outcome, request)
  })
  /** Succeeds with undefined where Acme knows no such call. Any other reply than the expected one is an error. */
  const ask = (operation: string, request: HttpRequest) =>
    Effect.flatMap(carrier.ask(operation, request), (reply) => {
      if (codeOf(reply) === "unknown_call") return Effect.succeed(undefined)
      const isExpected = isSuccess(reply) && Json.textAt(reply.body, "id") !== undefined
      return isExpected ? Effect.succeed(reply.body) : Effect.fail(carrier.error(operation, `HTTP ${reply.status}`))
    })
  return yield* trunkOf(account, carrier, context, {
    originate: (callbackUrl, request) => originate(callbackUrl("status", request.callId), request),
    hangup: (call) => Effect.asVoid(ask("hangup", post(`${pathOf(call)}/hangup`, {}))),
    lookup: (call) =>
      Effect.map(
        ask("lookup", get(pathOf(call))),
        (record): Look => (record === undefined ? { presence: "gone", told: [] } : lookOf(record))
      )
  })
})

/** Acme signs the body alone, so the call in it counts, not the one in the address. */
const read = ({ token }: Config, { body, call, headers }: Callback): CallbackRead | undefined => {
  const text = new TextDecoder().decode(body)
  if (!Hmac.isSameText(headers["acme-signature"], Hmac.hmac("sha256", token, text).toString("hex"))) return undefined
  const told = Json.parse(text)
  const event = Json.textAt(told, "id") === call?.callId ? eventOf(told) : undefined
  return { events: event === undefined ? [] : [{ event }] }
}

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "acme",
    displayName: "Acme",
    docsUrl: "https://acme.example.com/docs",
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "unnamed"],
    signs: ["body"],
    needsCallerId: true
  },
  fields: {
    endpoint: Credential.address({ label: "Endpoint", placeholder: "https://api.acme.example.com" }),
    token: Credential.secret({ label: "Token", description: "Authenticates requests, and signs Acme's callbacks" })
  },
  callbackHeaders: ["acme-signature"],
  connect,
  read,
  setup: (_, host) => [publicAddressStep("Acme", host)],
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
