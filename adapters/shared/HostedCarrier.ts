/**
 * What the trunks of hosted carriers have in common: one HTTP client for the account, a status that is that of its credentials, and the need of an
 * address where the carrier reaches us.
 */
import { Effect, Latch, type Scope } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import {
  type Check,
  OriginateRefused,
  type OriginateRequest,
  ProviderError,
  type Trunk,
  type TrunkContext,
  type TrunkStatus,
  type VerifyContext
} from "#core/provider/Adapter.ts"
import { type HttpClient, type HttpRequest, makeHttpClient, type Outcome, type Reply } from "./HttpClient.ts"
import { keepStatus } from "./keepStatus.ts"
import { publicAddressStep } from "./setup.ts"

/** Carriers do not say how long they keep an idle connection. */
const limits = { idleMillis: 5_000, maxSockets: 16, silenceMillis: 5_000 }

interface Account {
  readonly provider: string
  readonly displayName: string
  /** Of the carrier's own servers. */
  readonly origin: string
  readonly authorization?: string | ((at: number) => string)
  /** What authenticates requests where the carrier has headers of its own for it. */
  readonly headers?: Readonly<Record<string, string>>
  /** A request that changes nothing and needs the credentials, and what its outcome says about the trunk. */
  readonly check: { readonly request: HttpRequest; readonly statusOf: (outcome: Outcome) => TrunkStatus }
  /** What the configuration lacks, although its fields are valid: no call can be placed without it. */
  readonly lack?: string | undefined
  /** What to do when the credentials are refused. */
  readonly advice: string
}

export interface HostedCarrier {
  readonly http: HttpClient
  /** Why nothing may be sent to it. */
  readonly refused: string | undefined
  readonly status: Effect.Effect<TrunkStatus>
  readonly ask: (operation: string, request: HttpRequest) => Effect.Effect<Reply, ProviderError>
  readonly error: (operation: string, detail: string) => ProviderError
}

export const openCarrier = (
  { authorization, check, headers, origin, provider }: Account,
  { apiOrigin, egress }: Pick<TrunkContext, "apiOrigin" | "egress">
): Effect.Effect<HostedCarrier, never, Scope.Scope> => {
  const base = apiOrigin ?? new URL(origin)
  const refused = refusesUrl(egress, base) ? refusedWords : undefined
  const error = (operation: string, detail: string) => new ProviderError({ provider, operation, detail })
  return Effect.map(makeHttpClient({ ...limits, authorization, base, egress, headers }), (http) => ({
    http,
    refused,
    status: refused === undefined ? Effect.map(asOutcome(http.send(check.request)), check.statusOf) : Effect.succeed(unreachable(refused)),
    ask: (operation, request) =>
      refused === undefined
        ? Effect.catch(http.send(request), ({ detail }) => Effect.fail(error(operation, detail)))
        : Effect.fail(error(operation, refused)),
    error
  }))
}

/** A failure to get a reply is an outcome like any other. */
export const asOutcome = (request: ReturnType<HttpClient["send"]>): Effect.Effect<Outcome> =>
  Effect.catch(request, (failure) => Effect.succeed(failure))

const unreachable = (detail: string): TrunkStatus => ({ _tag: "Down", reason: "unreachable", detail })

type Verbs = Pick<Trunk, "detects" | "hangup" | "lookup" | "numbers" | "sendDtmf" | "transfer"> & {
  readonly originate: (
    callbackUrl: NonNullable<TrunkContext["callbackUrl"]>,
    ...given: Parameters<Trunk["originate"]>
  ) => ReturnType<Trunk["originate"]>
}

const isE164 = (text: string): boolean => /^\+[1-9][0-9]{6,14}$/.test(text)

/** Why the request would be of no use. */
const unusable = ({ from, to }: OriginateRequest): OriginateRefused | undefined => {
  if (!isE164(to)) {
    return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number in E.164" })
  }
  if (from === undefined) return new OriginateRefused({ reason: "misconfigured", detail: "there is no caller ID" })
  if (!isE164(from)) return new OriginateRefused({ reason: "caller_id_refused", detail: "the caller ID is not a phone number in E.164" })
  return undefined
}

/**
 * The trunk is up while the carrier accepts the credentials. A call that is refused because of them has them checked at once. `originate` gets only
 * requests with usable numbers.
 */
export const trunkOf = Effect.fnUntraced(function* (
  { displayName, lack }: Account,
  carrier: HostedCarrier,
  { callbackUrl, onStatus }: TrunkContext,
  verbs: Verbs
) {
  const hurry = Latch.makeUnsafe(false)
  const unheard = publicAddressStep(displayName, { callbackUrl: undefined, publicUrl: undefined }).description
  const obstacle = lack ?? (callbackUrl === undefined ? unheard : undefined)
  const check = obstacle === undefined ? carrier.status : Effect.succeed(unreachable(obstacle))
  yield* Effect.forkScoped(keepStatus({ check, hurry, onStatus }))
  const trunk: Trunk = {
    ...verbs,
    originate: (request) => {
      const refusal = unusable(request)
      if (refusal !== undefined) return Effect.fail(refusal)
      if (lack !== undefined) return Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: lack }))
      if (callbackUrl === undefined || carrier.refused !== undefined)
        return Effect.fail(new OriginateRefused({ reason: "unreachable", detail: carrier.refused ?? unheard }))
      return Effect.tapError(verbs.originate(callbackUrl, request), (error) =>
        Effect.sync(() => error._tag === "OriginateRefused" && error.reason === "auth_refused" && hurry.openUnsafe())
      )
    },
    // Callbacks come for every call, whoever placed it.
    adopt: () => {},
    reconnect: () => {
      carrier.http.renewConnections()
      hurry.openUnsafe()
    }
  }
  return trunk
})

const passed = (name: string, message: string): Check => ({ name, result: "passed", message })
const failed = (name: string, message: string, advice: string): Check => ({ name, result: "failed", message, advice })

/** Tests whether the account can be used. */
export const verifyAccount = Effect.fnUntraced(function* (account: Account, context: VerifyContext) {
  const carrier = yield* openCarrier(account, context)
  const status = yield* carrier.status
  for (const check of checksOf(account, status)) context.report(check)
})

const checksOf = ({ advice, displayName, lack, origin }: Account, status: TrunkStatus): ReadonlyArray<Check> => {
  const detail = status._tag === "Down" ? status.detail : ""
  if (status._tag === "Down" && status.reason !== "auth")
    return [failed("connection", `${displayName} could not be reached: ${detail}.`, `Let the engine connect to ${origin}.`)]
  const connection = passed("connection", `${displayName} answers.`)
  const complete = lack === undefined ? [] : [failed("configuration", `${lack}.`, "Complete the telephony configuration.")]
  if (status._tag === "Up") return [connection, passed("credentials", `${displayName} accepts the credentials.`), ...complete]
  return [connection, failed("credentials", `${displayName} refuses the credentials: ${detail}.`, advice)]
}
