/**
 * The plugin contract: all that a provider adapter and the engine must know about each other. An adapter translates the provider's events into
 * `TrunkEvent`s and carries out a few verbs. It has no business rules, retries nothing and reads no environment.
 */
import { type Effect, Schema, type Scope } from "effect"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "./Media.ts"
import type { CarrierMediaOf } from "./MediaSocket.ts"
import type { Manifest } from "./Manifest.ts"
import type { Egress } from "#core/egress/Egress.ts"
import type { Callback, CallbackRead } from "./Callback.ts"
import type { CallRef } from "./CallRef.ts"
import type { SetupHost, SetupStep } from "./Setup.ts"
import type { TransferDoubtful, TransferRefused, TransferRequest } from "./Transfer.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import { type ConfigOf, type CredentialFields, effective } from "./Credential.ts"

export interface OriginateRequest {
  /** Chosen by the engine before the request. A provider that accepts a client's id is given this one. */
  readonly callId: CallId
  /** E.164 with `+`, or an extension without one, where the configuration lists extensions (`extensionsField`). */
  readonly to: string
  readonly from: string | undefined
  /** How long the callee's phone may ring. The provider is given this limit, and ends the call itself. */
  readonly ringTimeoutSeconds: number
  /** How long the call may last from its answer on. The engine ends it then; a provider that can is given the limit as well. */
  readonly maxDurationSeconds: number
  /**
   * Whether the provider's own machine detection is wanted, which usually costs: not at all, to know who answered, or also to know when a
   * machine has said its greeting (`GreetingEnded`).
   */
  readonly detect: "no" | "who" | "greetingEnd"
  /** The callee's data by name; for a contact list, its columns. An adapter sends only what its configuration names. */
  readonly context?: Readonly<Record<string, unknown>>
  /**
   * Whether the request may still leave. Call it exactly once, when the connection is established; the first byte must follow in the same turn
   * of the event loop, because from then on the phone may ring. False: write nothing, and refuse the originate with `permit_lapsed`. Never
   * throws. For an adapter from a package, the engine also calls it, until one of the adapter's requests has; and permanently once one has not.
   * `endpoint` is where the request goes, for a trunk with several endpoints. The engine stores it, so that it survives a restart.
   */
  readonly leave: (endpoint?: string) => boolean
}

/**
 * Whether the trunk can carry calls. `auth`: the provider rejects our credentials. `replaced`: another client took our place. `unheard`: the provider
 * cannot reach us, as the engine has found out itself.
 */
export type TrunkStatus =
  | { readonly _tag: "Connecting" }
  | { readonly _tag: "Up" }
  | { readonly _tag: "Down"; readonly reason: "auth" | "unreachable" | "replaced" | "unheard"; readonly detail: string }

/**
 * The provider certainly did not place the call.
 * - `number_refused`: this number can never be called; the contact fails.
 * - `unreachable`: the request never left, or the provider could not begin; wait and try the same contact again.
 * - `permit_lapsed`: `leave` returned false, or the originate was interrupted before it could be asked; says nothing about the trunk.
 * - `rate_limited`: like `unreachable`, but wait for `retryAfterMillis`.
 * - `caller_id_refused`: the provider does not let this account show this caller ID; says nothing about the trunk or the callee's number.
 * - `auth_refused`, `no_credit`, `misconfigured`: nothing can be dialed on this trunk until a person fixes it.
 * - `unexplained`: the provider says that it places no call, for a reason that the adapter does not know; see `Unexplained.ts`.
 */
export class OriginateRefused extends Schema.TaggedError<OriginateRefused>()("OriginateRefused", {
  reason: Schema.Literals([
    "number_refused",
    "unreachable",
    "permit_lapsed",
    "rate_limited",
    "caller_id_refused",
    "auth_refused",
    "no_credit",
    "misconfigured",
    "unexplained"
  ]),
  /** Set for `number_refused`: the reason as a hangup cause. */
  cause: Schema.optionalKey(HangupCause),
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** One of several endpoints refused the call while others take calls; says nothing about the trunk. The reason is then `unreachable`. */
  elsewhere: Schema.optionalKey(Schema.Boolean),
  /** For the operator. Must not hold a phone number or a credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.reason}: ${this.detail}`
  }
}

/** The request may have reached the provider, and nothing proves that no call resulted: the phone may be ringing. It is never repeated. */
export class OriginateDoubtful extends Schema.TaggedError<OriginateDoubtful>()("OriginateDoubtful", {
  /** The HTTP status of an error that proves nothing, such as the 503 of an ingress. Absent when no reply came. */
  status: Schema.optionalKey(Schema.Int),
  /** How long the trunk must be left alone, if the error says so. */
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** The request went to one of several endpoints while others take calls; says nothing about the trunk. */
  elsewhere: Schema.optionalKey(Schema.Boolean),
  /** For the operator. Must not hold a phone number or a credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  operation: Schema.String,
  /** For the operator. Must not hold a phone number or a credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.operation}: ${this.detail}`
  }
}

/**
 * A call's state at the provider. `queued`: it waits in the provider's own queue, and has not been dialed. `ended`: the provider's record says
 * so. `gone` says only that the call is not there now. `never_placed` needs proof: either there is no trace of the call now, and no event of it
 * can have been missed since before the request; or the provider's record says that it was removed from the queue and never dialed. No end is
 * reported then.
 */
export type Presence = "queued" | "ringing" | "up" | "ended" | "gone" | "never_placed"

/** The call is at the provider now, in whatever state. */
export const isAlive = (presence: Presence): boolean => presence === "queued" || presence === "ringing" || presence === "up"

export interface Look {
  readonly presence: Presence
  /** What the provider's record says about the call besides its state: its id, its answer, how and when it ended, what it cost. */
  readonly told: ReadonlyArray<TrunkEvent>
}

/** An originate whose call has never been seen. The adapter may not know it, because an earlier process may have sent it. */
export interface UnseenRequest {
  readonly call: CallRef
  /** How long ago the request left, by a clock that nobody sets. */
  readonly ageMillis: number
  readonly ringTimeoutSeconds: number
}

/** One of the servers that a trunk's calls go through. */
export interface Endpoint {
  /** Unique within its trunk and the same after a restart: printable ASCII without spaces, at most 300 characters, no credential. */
  readonly name: string
  readonly status: TrunkStatus
  /** What calls there fail with although it is connected, in the provider's own words if it sent any; undefined while it takes calls. */
  readonly trouble: string | undefined
}

/** A live session with a provider under one telephony configuration. */
export interface Trunk {
  /**
   * Places the call. Succeeds with the provider's own id once the provider has accepted the request. If it is interrupted before the first byte
   * is written, it drops the request at once; later, it only stops waiting.
   */
  readonly originate: (
    request: OriginateRequest
  ) => Effect.Effect<{ readonly providerCallId: string }, OriginateRefused | OriginateDoubtful>
  /**
   * Ends the call in any state, including the provider's queue, after which its phone must not ring. Also succeeds if the call no longer exists;
   * the engine takes neither as proof.
   */
  readonly hangup: (call: CallRef, cause: HangupCause) => Effect.Effect<void, ProviderError>
  readonly lookup: (call: CallRef) => Effect.Effect<Look, ProviderError>
  /**
   * It reports who has answered (`Detected`) if a request asks for it. The end of such a call is held for a while if that has not been reported
   * yet.
   */
  readonly detects?: boolean
  /**
   * Opens the audio of an answered call, for a provider to whom we connect. Closing the scope ends the audio, not the call. A carrier that connects
   * to us has `Adapter.media` instead.
   */
  readonly openMedia?: (call: CallRef) => Effect.Effect<MediaStream, ProviderError, Scope.Scope>
  /** Asks a carrier that connects to us before the answer, and only once, to connect again: we have been restarted since. */
  readonly reopenMedia?: (call: CallRef) => Effect.Effect<void, ProviderError>
  /** Sends keys to the callee. Omit it if the provider cannot. */
  readonly sendDtmf?: (call: CallRef, digits: string) => Effect.Effect<void, ProviderError>
  /** The account's own numbers at the provider, in E.164. Omit it if the provider cannot list them. */
  readonly numbers?: Effect.Effect<ReadonlyArray<string>, ProviderError>
  /**
   * Begins a transfer of an answered call: one at a time per call, never repeated, and only to destinations that the configuration allows.
   * Succeeds once the provider has accepted it; `Transferred` reports the outcome, unless the call ends. Hanging up the call ends it for
   * everybody. Omit it if the provider cannot transfer.
   */
  readonly transfer?: (call: CallRef, request: TransferRequest) => Effect.Effect<void, TransferRefused | TransferDoubtful>
  /**
   * Follows a call that this session did not place: one from before a restart of the engine, or from the session that this one replaces. Its
   * events are reported, and it is listed again after a reconnect.
   */
  readonly adopt: (call: CallRef) => void
  /**
   * Whether a requested call that cannot be found may still appear. False only if the adapter can rule it out, for instance because the provider
   * has answered a later request long ago. Answers from memory. If omitted, or true, the engine waits ten minutes from the request.
   */
  readonly mayAppear?: (request: UnseenRequest) => boolean
  /** The cause of an outage may have been fixed: reconnect now instead of waiting, and report the result to `onStatus`. */
  readonly reconnect?: () => void
  /** The trunk's endpoints, if it can have several. A call belongs to the endpoint that it left through for good. */
  readonly endpoints?: () => ReadonlyArray<Endpoint>
  /** The status of the connection that carries this call's events. If omitted, the trunk's own status counts. */
  readonly statusOf?: (callId: CallId) => TrunkStatus
  /** Another session is about to replace this one: an endpoint that is not connected now must not come back. */
  readonly retire?: Effect.Effect<void>
}

export interface TrunkContext {
  readonly configurationId: TelephonyConfigId
  /** The name of this engine node, stable across restarts: `[a-z0-9-]`, at most 32 characters. */
  readonly node: string
  /**
   * Never blocks, never throws. It also takes events of calls that the trunk does not follow, and what a list of the provider's calls shows of
   * them (on connect, on reconnect, in a slow sweep) as `Placed`, `Rang` or `Answered`, for every id in the form of ours. The engine knows
   * which of them are its own and hangs up those that nobody follows any more; it never touches the others.
   */
  readonly onEvent: (callId: string, event: TrunkEvent) => void
  /** A trunk with several endpoints is up while any of them is, and reports so again when another one comes or goes. */
  readonly onStatus: (status: TrunkStatus) => void
  /**
   * What may be connected to for the organization that owns this configuration. The engine has checked the address fields as far as they are IP
   * literals. An adapter must check every address with it, pass `lookup` to its sockets, and follow no redirects.
   */
  readonly egress: Egress
  /** Calls per second, if the operator has overridden the manifest's rate. */
  readonly trunkRate?: number | undefined
  /** The operator's own origin for this carrier, never a tenant's. It replaces the origin of all the carrier's hosts; paths stay. */
  readonly apiOrigin: URL | undefined
  /**
   * An address for the carrier to call us at, for one call or for the whole configuration; `kind` is `[a-z-]`, the adapter's own name for what
   * arrives there. Nobody else can make such an address up. Undefined: the engine has no public URL, so no carrier can reach it.
   */
  readonly callbackUrl: ((kind: string, callId?: CallId) => string) | undefined
  /**
   * The address of a websocket to which the carrier connects for the audio of a call: sealed like the others, without a query, and valid as long
   * as the call. Undefined: the engine has no public URL.
   */
  readonly mediaUrl?: ((callId: CallId) => string) | undefined
  /**
   * Whether the call with this provider's id is, or may be, another of our calls, and so not this one. Check each call that a search by numbers
   * and time finds before accepting one as this call; the engine accepts no other. If omitted, the trunk is not part of an engine.
   */
  readonly isOthers?: ((call: CallRef, providerCallId: string) => Effect.Effect<boolean>) | undefined
}

/** One result of testing a configuration. */
export interface Check {
  /** `[a-z_]`: `connection`, `credentials`, `rights`, `version`, or whatever else is tested. */
  readonly name: string
  /** `warning`: calls can be placed, but something is not as it should be. */
  readonly result: "passed" | "warning" | "failed"
  /** The result in a sentence for the operator. Must not hold a credential or a phone number. */
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

export interface VerifyContext extends Pick<TrunkContext, "apiOrigin" | "configurationId" | "node" | "egress"> {
  /** Reports a result at once, so that it is known even if the rest takes too long. Never throws. */
  readonly report: (check: Check) => void
}

export interface PrepareContext extends Pick<TrunkContext, "apiOrigin" | "configurationId" | "egress">, SetupHost {
  /** What is created gets this name, by which it is found again. No other configuration has it. */
  readonly name: string
}

export interface Adapter {
  readonly manifest: Manifest
  readonly fields: CredentialFields
  /**
   * Opens the trunk and returns at once; `onStatus` reports whether it can carry calls, and every change of that. The trunk reconnects by itself
   * for as long as the scope is open.
   */
  readonly connect: (config: Readonly<Record<string, unknown>>, context: TrunkContext) => Effect.Effect<Trunk, never, Scope.Scope>
  /**
   * Reads a request that the carrier sent to one of our addresses. Undefined: its signature is missing or wrong. Pure and synchronous: it runs at
   * any node, with or without a trunk, and again for the same delivery. It may throw: the carrier then gets a 400.
   */
  readonly read?: (config: Readonly<Record<string, unknown>>, callback: Callback) => CallbackRead | undefined
  /**
   * Names the provider's account, whose limits hold for all configurations that use it, whoever owns them. If omitted, each configuration has
   * limits of its own.
   */
  readonly rateKey?: (config: Readonly<Record<string, unknown>>) => string
  /** What is needed, besides valid fields, before calls can go out. Pure; the engine adds the step of a caller ID. */
  readonly setup?: (config: Readonly<Record<string, unknown>>, host: SetupHost) => ReadonlyArray<SetupStep>
  /**
   * Creates at the provider what calls need and the configuration does not name, and returns it as the values of the managed fields. It looks
   * for what it is about to create, by name, because an earlier process may have died, or its reply may have been lost; and it neither changes
   * nor deletes existing things. If it did not create everything, it is run again once its results are stored. The engine runs it for a
   * configuration that lacks something, never twice at once, and interrupts it after 20 s.
   */
  readonly prepare?: (
    config: Readonly<Record<string, unknown>>,
    context: PrepareContext
  ) => Effect.Effect<Readonly<Record<string, string>>, ProviderError, Scope.Scope>
  /** The headers that `read` and `media.admit` need besides `content-type`, in lower case; they get no others. */
  readonly callbackHeaders?: ReadonlyArray<string>
  /** Omitted: the audio of calls is opened by `openMedia`, or there is none, and the engine refuses to place calls that need any. */
  readonly media?: CarrierMediaOf<Readonly<Record<string, unknown>>>
  /**
   * Tests a configuration over connections of its own, and stops after the first check that makes the others pointless. It places no call,
   * changes nothing at the provider, and does not disturb a live trunk with the same configuration. The engine interrupts it after 15 s. If
   * omitted, only the state of the live trunk can be shown.
   */
  readonly verify?: (config: Readonly<Record<string, unknown>>, context: VerifyContext) => Effect.Effect<void, never, Scope.Scope>
}

/** Derives the type of `config` from the fields, which are validated before `connect` gets it. */
export const defineAdapter = <const Fields extends CredentialFields>(adapter: {
  readonly manifest: Manifest
  readonly fields: Fields
  readonly connect: (config: ConfigOf<Fields>, context: TrunkContext) => Effect.Effect<Trunk, never, Scope.Scope>
  readonly read?: (config: ConfigOf<Fields>, callback: Callback) => CallbackRead | undefined
  readonly callbackHeaders?: ReadonlyArray<string>
  readonly media?: CarrierMediaOf<ConfigOf<Fields>>
  readonly rateKey?: (config: ConfigOf<Fields>) => string
  readonly setup?: (config: ConfigOf<Fields>, host: SetupHost) => ReadonlyArray<SetupStep>
  readonly prepare?: (config: ConfigOf<Fields>, context: PrepareContext) => ReturnType<NonNullable<Adapter["prepare"]>>
  readonly verify?: (config: ConfigOf<Fields>, context: VerifyContext) => Effect.Effect<void, never, Scope.Scope>
}): Adapter => {
  const { callbackHeaders, connect, fields, manifest, media, prepare, rateKey, read, setup, verify } = adapter
  // Every callback of a carrier asks for the configuration of its trunk again.
  const known = new WeakMap<Readonly<Record<string, unknown>>, ConfigOf<Fields>>()
  const typed = (config: Readonly<Record<string, unknown>>): ConfigOf<Fields> => {
    const found = known.get(config)
    if (found !== undefined) return found
    // The cast holds because the gateway validated the stored configuration against `fields`, from which ConfigOf is derived.
    const whole = effective(fields, config) as ConfigOf<Fields>
    known.set(config, whole)
    return whole
  }
  return {
    manifest,
    fields,
    connect: (config, context) => connect(typed(config), context),
    ...(callbackHeaders === undefined ? {} : { callbackHeaders }),
    ...(rateKey === undefined ? {} : { rateKey: (config) => rateKey(typed(config)) }),
    ...(setup === undefined ? {} : { setup: (config, host) => setup(typed(config), host) }),
    ...(prepare === undefined ? {} : { prepare: (config, context) => prepare(typed(config), context) }),
    ...(read === undefined ? {} : { read: (config, callback) => read(typed(config), callback) }),
    ...(media === undefined ? {} : { media: { ...media, admit: (config, upgrade) => media.admit?.(typed(config), upgrade) ?? true } }),
    ...(verify === undefined ? {} : { verify: (config, context) => verify(typed(config), context) })
  }
}
