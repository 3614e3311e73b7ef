/** What all hosted carriers have in common: an account, an HTTP client for it, and what the replies prove. */
import { Effect } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import {
  type Check,
  type OriginateDoubtful,
  type OriginateRefused,
  ProviderError,
  type TrunkContext,
  type TrunkStatus,
  type VerifyContext
} from "#core/provider/Adapter.ts"
import type { Manifest } from "#core/provider/Manifest.ts"
import { blockedBy, type SetupHost, type SetupStep } from "#core/provider/Setup.ts"
import { type HttpClient, type HttpRequest, makeHttpClient, NotSent, type Outcome, type Reply } from "./HttpClient.ts"
import { publicAddressStep } from "./setup.ts"
import { type AccountCheck, type CarrierReplies, detailOf, isSuccess, originated, standingOf } from "./replies.ts"

/** Carriers do not say how long they keep an idle connection. */
const limits = { idleMillis: 5_000, maxSockets: 16, silenceMillis: 5_000 }

export interface Account {
  /** The origin of the carrier's own servers. */
  readonly origin: string
  readonly authorization?: string | ((at: number) => string)
  /** Authenticates requests, if the carrier has its own headers for that. */
  readonly headers?: Readonly<Record<string, string>>
  readonly replies: CarrierReplies
  readonly check: AccountCheck
  /** What is needed besides valid fields, see `fieldStep`. */
  readonly steps?: ReadonlyArray<SetupStep>
  /** What to do when the credentials are refused. */
  readonly advice: string
}

/** An account with the carrier's names from the manifest. */
interface NamedAccount extends Account, Pick<Manifest, "displayName" | "provider"> {}

/** What the configuration still lacks for placing calls, although its fields are valid. */
export const lackOf = ({ steps = [] }: Account): string | undefined => blockedBy(steps)

export const setupOf = (
  { displayName, steps = [] }: NamedAccount,
  host: SetupHost,
  refusesUrl?: Parameters<typeof publicAddressStep>[2]
): ReadonlyArray<SetupStep> => [publicAddressStep(displayName, host, refusesUrl), ...steps]

export interface HostedCarrier {
  readonly account: NamedAccount
  /** Why nothing may be sent to it. */
  readonly refused: string | undefined
  readonly status: Effect.Effect<TrunkStatus>
  readonly renewConnections: () => void
  readonly outcomeOf: (request: HttpRequest) => Effect.Effect<Outcome>
  /** Fails unless `isExpected` accepts the reply. */
  readonly ask: (operation: string, request: HttpRequest, isExpected: (reply: Reply) => boolean) => Effect.Effect<Reply, ProviderError>
  /** What `read` finds in the reply's body; fails if that is nothing. Undefined: the carrier itself says that it has no such call. */
  readonly fetch: <A>(
    operation: string,
    request: HttpRequest,
    read: (body: unknown) => A | undefined
  ) => Effect.Effect<A | undefined, ProviderError>
  /**
   * Requests a call. `placed` gets the carrier's id of it, and the reply, even if that arrives after the result is no longer awaited.
   */
  readonly place: (
    order: HttpRequest & Required<Pick<HttpRequest, "leave">>,
    placed: (providerCallId: string, reply: Reply, isAwaited: boolean) => void
  ) => Effect.Effect<{ readonly providerCallId: string }, OriginateRefused | OriginateDoubtful>
  readonly error: (operation: string, detail: string) => ProviderError
  readonly isOthers: NonNullable<TrunkContext["isOthers"]>
}

const isNobodys = () => Effect.succeed(false)

export const openCarrier = Effect.fnUntraced(function* (
  account: NamedAccount,
  { apiOrigin, egress, isOthers = isNobodys }: Pick<TrunkContext, "apiOrigin" | "egress" | "isOthers">
) {
  const { authorization, check, headers, origin, provider, replies } = account
  const base = apiOrigin ?? new URL(origin)
  const refused = refusesUrl(egress, base) ? refusedWords : undefined
  const http = yield* makeHttpClient({ ...limits, authorization, base, egress, headers })
  const error = (operation: string, detail: string) => new ProviderError({ provider, operation, detail })
  const outcomeOf = (request: HttpRequest) =>
    refused === undefined ? asOutcome(http.send(request)) : Effect.succeed(new NotSent({ withdrawn: false, detail: refused }))
  const ask: HostedCarrier["ask"] = Effect.fnUntraced(function* (operation, request, isExpected) {
    const outcome = yield* outcomeOf(request)
    if (!("status" in outcome)) return yield* error(operation, outcome.detail)
    return isExpected(outcome) ? outcome : yield* error(operation, detailOf(outcome, replies))
  })
  const fetch: HostedCarrier["fetch"] = Effect.fnUntraced(function* (operation, request, read) {
    const isRead = (reply: Reply) => isSuccess(reply) && read(reply.body) !== undefined
    const reply = yield* ask(operation, request, (reply) => isRead(reply) || replies.isMissing(reply))
    return replies.isMissing(reply) ? undefined : read(reply.body)
  })
  const carrier: HostedCarrier = {
    account,
    ask,
    error,
    fetch,
    isOthers,
    outcomeOf,
    place: (...given) => place(http, replies, ...given),
    refused,
    renewConnections: http.renewConnections,
    status: Effect.map(outcomeOf(check.request), (outcome) => standingOf(outcome, check, replies))
  }
  return carrier
})

const place = Effect.fnUntraced(function* (
  http: HttpClient,
  replies: CarrierReplies,
  ...[order, placed]: Parameters<HostedCarrier["place"]>
) {
  let isAwaited = true
  const placing = http.place(order, (settled) => {
    const result = originated(settled, replies)
    if ("status" in settled && "providerCallId" in result) placed(result.providerCallId, settled, isAwaited)
  })
  const noLonger = Effect.sync(() => {
    isAwaited = false
  })
  const result = originated(yield* Effect.ensuring(asOutcome(placing), noLonger), replies)
  return "providerCallId" in result ? result : yield* result
})

/** Turns a failure to get a reply into an ordinary outcome. */
const asOutcome = (request: ReturnType<HttpClient["send"]>): Effect.Effect<Outcome> =>
  Effect.catch(request, (failure) => Effect.succeed(failure))

export const unreachable = (detail: string): TrunkStatus => ({ _tag: "Down", reason: "unreachable", detail })

const passed = (name: string, message: string): Check => ({ name, result: "passed", message })
const failed = (name: string, message: string, advice: string): Check => ({ name, result: "failed", message, advice })

/** Tests whether the account can be used. */
export const verifyAccount = Effect.fnUntraced(function* ({ account, status: check }: HostedCarrier, context: VerifyContext) {
  const status = yield* check
  for (const check of checksOf(account, status)) context.report(check)
})

const checksOf = (account: NamedAccount, status: TrunkStatus): ReadonlyArray<Check> => {
  const { advice, displayName, origin } = account
  const lack = lackOf(account)
  const detail = status._tag === "Down" ? status.detail : ""
  if (status._tag === "Down" && status.reason !== "auth")
    return [failed("connection", `${displayName} could not be reached: ${detail}.`, `Let the engine connect to ${origin}.`)]
  const connection = passed("connection", `${displayName} answers.`)
  const complete = lack === undefined ? [] : [failed("configuration", `${lack}.`, "Complete the telephony configuration.")]
  if (status._tag === "Up") return [connection, passed("credentials", `${displayName} accepts the credentials.`), ...complete]
  return [connection, failed("credentials", `${displayName} refuses the credentials: ${detail}.`, advice)]
}
