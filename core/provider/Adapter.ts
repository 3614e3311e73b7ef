/**
 * The plugin contract: all that a provider adapter has to know of the engine, and the engine of it. An adapter turns the provider's own
 * words into `TrunkEvent`s and carries out four verbs. It keeps no business rule, retries nothing and reads no environment.
 */
import { type Effect, Schema, type Scope } from "effect"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "./Media.ts"
import type { Egress } from "#core/egress/Egress.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import { complete, type ConfigOf, type CredentialFields } from "./Credential.ts"

export interface OriginateRequest {
  /** Ours, chosen before the request: a provider that takes an id of the client is given this one. */
  readonly callId: CallId
  /** E.164 with `+`; or an extension, without one, where the configuration lists those (`extensionsField`). */
  readonly to: string
  readonly from: string | undefined
  /** How long the callee's phone may ring. The provider is told, and ends the call itself. */
  readonly ringTimeoutSeconds: number
  /** What is known of the callee, by name: for a list, its columns. An adapter sends on what its configuration names, and nothing else. */
  readonly context?: Readonly<Record<string, unknown>>
  /**
   * Whether the request may still leave. Asked once, when the connection stands, and the first byte follows in the same turn of the event
   * loop: from then on the phone may ring. False: nothing is written, and the originate is refused with `permit_lapsed`. Never throws.
   * The engine asks for an adapter from a package until that has asked itself, and again after it has not.
   * `endpoint`: where it goes, for a trunk that has several endpoints. The engine remembers it, also over a restart.
   */
  readonly leave: (endpoint?: string) => boolean
}

/**
 * What a provider reports of one call, in our words. May come twice, late, or before the originate's own reply. `at` is the provider's own
 * time of it, in epoch milliseconds, where the provider tells one: only the differences between events of one call are used, never the time
 * itself, because its clock is not ours.
 */
export type TrunkEvent =
  /** The call exists; nothing is known about a phone yet. */
  | { readonly _tag: "Placed" }
  | { readonly _tag: "Rang" }
  /**
   * `isElsewhere`: what the provider's side does with answered calls, such as a dialplan, has it first. Another one without this follows when its
   * audio can be opened; or its end.
   */
  | { readonly _tag: "Answered"; readonly at?: number; readonly isElsewhere?: true }
  /** A cause that may hide an answer (`mayHideAnswer`) only where the answer could have been heard; otherwise `trunk_lost`. */
  | { readonly _tag: "HungUp"; readonly cause: HangupCause; readonly at?: number }
  | { readonly _tag: "Dtmf"; readonly digit: string }
  | { readonly _tag: "MachineDetected" }
  /** What the provider's side has found out about the call, by name, for its run. No phone number. */
  | { readonly _tag: "Gathered"; readonly values: Readonly<Record<string, string>> }

/** Whether the trunk can carry calls. `auth`: the provider rejects our credentials. `replaced`: another client took our place. */
export type TrunkStatus =
  | { readonly _tag: "Connecting" }
  | { readonly _tag: "Up" }
  | { readonly _tag: "Down"; readonly reason: "auth" | "unreachable" | "replaced"; readonly detail: string }

/**
 * The provider certainly did not place the call.
 * - `number_refused`: this number will never do; the contact fails.
 * - `unreachable`: the request never left, or the provider could not begin; wait and try the same contact again.
 * - `permit_lapsed`: `leave` said no, or the originate was interrupted before it could be asked; says nothing about the trunk.
 * - `rate_limited`: as above, not before `retryAfterMillis`.
 * - `auth_refused`, `no_credit`, `misconfigured`: nothing can be dialed on this trunk until a person repairs it.
 */
export class OriginateRefused extends Schema.TaggedError<OriginateRefused>()("OriginateRefused", {
  reason: Schema.Literals(["number_refused", "unreachable", "permit_lapsed", "rate_limited", "auth_refused", "no_credit", "misconfigured"]),
  /** For `number_refused`: why, as the call's hangup cause. */
  cause: Schema.optionalKey(HangupCause),
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** One endpoint of several refused it, and others take calls: says nothing of the trunk. Its reason is `unreachable` then. */
  elsewhere: Schema.optionalKey(Schema.Boolean),
  /** For the operator: no phone number, no credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.reason}: ${this.detail}`
  }
}

/** The request may have reached the provider, and nothing proves that no call came of it: the phone may be ringing. Never repeated. */
export class OriginateDoubtful extends Schema.TaggedError<OriginateDoubtful>()("OriginateDoubtful", {
  /** An error came back that proves nothing, such as the 503 of an ingress: its HTTP status. Left out when nothing came back. */
  status: Schema.optionalKey(Schema.Int),
  /** How long the trunk is to be left alone, where the error says so. */
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** It went to one endpoint of several, and others take calls: says nothing of the trunk. */
  elsewhere: Schema.optionalKey(Schema.Boolean),
  /** For the operator: no phone number, no credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  operation: Schema.String,
  /** For the operator: no phone number, no credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.operation}: ${this.detail}`
  }
}

/**
 * Where a call stands at the provider. `never_placed` only when the adapter can prove it: no trace of the call now, and no event of it
 * can have been missed since before the request. `gone` says no more than that it is not there now.
 */
export type Presence = "ringing" | "up" | "gone" | "never_placed"

/** An originate whose call has never been seen. The adapter may not know it: a former process may have sent it. */
export interface UnseenRequest {
  readonly callId: CallId
  /** How long ago the request left. */
  readonly ageMillis: number
  readonly ringTimeoutSeconds: number
  /** Where it went, as `leave` was told; undefined when nobody knows. */
  readonly endpoint?: string | undefined
}

/** One of the places that a trunk's calls go through. */
export interface Endpoint {
  /** Unique in its trunk, and the same after a restart: printable ASCII without blanks, at most 300 characters, no credential. */
  readonly name: string
  readonly status: TrunkStatus
  /** What calls fail with there while it is connected, in the provider's own words where it had any; undefined while it takes them. */
  readonly trouble: string | undefined
}

/** Hands a call that is up to somebody else. */
export interface TransferRequest {
  /** Digits, with or without a plus: a number, an extension or a queue, as the configuration lets it be dialed. */
  readonly to: string
  /** The number that the destination is shown. Undefined: whatever the provider shows. */
  readonly from?: string
  /** `blind`: the call goes on wherever it was sent to, whatever becomes of it there. `attended`: only once the destination has answered. */
  readonly kind: "blind" | "attended"
  /** Of an attended one: how long the destination may ring. */
  readonly timeoutSeconds: number
}

/** What came of a transfer. After `Declined` the callee is with the agent again, as before; the cause is the destination's. */
export type TransferOutcome =
  /** Attended: the callee and the destination talk to each other. The call ends when either of them hangs up. */
  | { readonly _tag: "Connected" }
  /** Blind: the call is out of our hands, and its end is told as ever. */
  | { readonly _tag: "HandedOver" }
  | { readonly _tag: "Declined"; readonly cause: HangupCause }
  /** The callee hung up meanwhile. */
  | { readonly _tag: "CalleeGone" }

/** A live session with a provider under one telephony configuration. */
export interface Trunk {
  /**
   * Places the call. Succeeds with the provider's own id of it once the provider has accepted the request. Interrupted before the first
   * byte was written, it drops the request at once; later, it only stops waiting.
   */
  readonly originate: (
    request: OriginateRequest
  ) => Effect.Effect<{ readonly providerCallId: string }, OriginateRefused | OriginateDoubtful>
  /** Ends the call, at whatever stage. Succeeds when there is no such call any more. */
  readonly hangup: (callId: CallId, cause: HangupCause) => Effect.Effect<void, ProviderError>
  readonly lookup: (callId: CallId) => Effect.Effect<Presence, ProviderError>
  /** The audio of an answered call. Closing the scope ends the audio, not the call. */
  readonly openMedia: (callId: CallId) => Effect.Effect<MediaStream, ProviderError, Scope.Scope>
  readonly sendDtmf: (callId: CallId, digits: string) => Effect.Effect<void, ProviderError>
  /**
   * One at a time for each call, and only to where the configuration allows. Interrupted before the destination has answered, it is called off.
   * Left out: this provider cannot. An error: it was not begun, or nobody knows whether a blind one was.
   */
  readonly transfer?: (callId: CallId, request: TransferRequest) => Effect.Effect<TransferOutcome, ProviderError>
  /**
   * Calls placed before a restart of the engine or before the trunk's session was replaced, whose events are wanted again, and which are listed
   * again after a reconnect. `endpoint`: where its request went, if that is known.
   */
  readonly adopt: (callId: CallId, endpoint?: string) => void
  /**
   * Whether a call that was requested and is nowhere to be seen may still appear. False only when the adapter can rule it out: the provider
   * was restarted since the request, for instance. Answers from memory. Left out, or true: the engine waits ten minutes from the request.
   */
  readonly mayAppear?: (request: UnseenRequest) => boolean
  /** What keeps a trunk down may have been repaired: it tries now, not in a while, and `onStatus` tells anew what comes of it. */
  readonly reconnect?: () => void
  /** Its endpoints, where it can have several. A call belongs to the one that it left through, for ever. */
  readonly endpoints?: () => ReadonlyArray<Endpoint>
  /** Of what this call's events come over. Left out: the trunk's own. */
  readonly statusOf?: (callId: CallId) => TrunkStatus
  /** Another session is about to take its place: an endpoint that is not connected now must not come back. */
  readonly retire?: Effect.Effect<void>
}

export interface TrunkContext {
  readonly configurationId: TelephonyConfigId
  /** Name of this engine node, stable over restarts: `[a-z0-9-]`, at most 32 characters. */
  readonly node: string
  /**
   * Never blocks, never throws. Also takes the events of calls that the trunk does not follow, and what a list of the provider's calls shows
   * of them (at connect, at a reconnect, in a slow sweep), as `Placed`, `Rang` or `Answered`: of everything that has the form of our ids.
   * The engine knows which of them are its own and hangs up those that nobody follows any more; it never touches the others.
   */
  readonly onEvent: (callId: string, event: TrunkEvent) => void
  /** A trunk with several endpoints is up while one of them is, and tells so again when another one comes or goes. */
  readonly onStatus: (status: TrunkStatus) => void
  /**
   * What may be connected to for the organization whose configuration this is. The engine has judged the fields that are addresses, as far as
   * they are IP literals. An adapter asks it of every address, gives `lookup` to its sockets, and follows no redirects.
   */
  readonly egress: Egress
}

export interface Manifest {
  /** Version of this contract. */
  readonly contract: 1
  /** The API's word for the provider: `[a-z0-9_]`. */
  readonly provider: string
  readonly displayName: string
  readonly docsUrl: string
  /** Dial requests per second that one configuration may send, unless the operator says otherwise. */
  readonly callsPerSecond: number
  /** Originate requests that may wait for their reply at once. */
  readonly originatesInFlight: number
  /** No call goes out without a number to show: a request always has its `from`. Left out: the provider has one of its own. */
  readonly needsCallerId?: boolean
  /** The field that names the account: by account and number called, the provider's inbound calls are told apart. */
  readonly accountField?: string
  /** The field that lists the extensions which may be called, as `Extensions` has them. Left out: there are none. */
  readonly extensionsField?: string
}

/** One thing that was looked at while a configuration was tried. */
export interface Check {
  /** `[a-z_]`: `connection`, `credentials`, `rights`, `version`, or whatever else there is to look at. */
  readonly name: string
  /** `warning`: calls can be placed, but not all is as it should be. */
  readonly result: "passed" | "warning" | "failed"
  /** What was found, in a sentence for the operator: no credential, no phone number. */
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

export interface VerifyContext extends Pick<TrunkContext, "configurationId" | "node" | "egress"> {
  /** At once, so that what was found is known even if the rest takes too long. Never throws. */
  readonly report: (check: Check) => void
}

export interface Adapter {
  readonly manifest: Manifest
  readonly fields: CredentialFields
  /**
   * Opens the trunk and returns at once; `onStatus` tells when it can carry calls, and whenever that changes. The trunk reconnects by
   * itself for as long as the scope is open.
   */
  readonly connect: (config: Readonly<Record<string, unknown>>, context: TrunkContext) => Effect.Effect<Trunk, never, Scope.Scope>
  /**
   * Tries a configuration out on connections of its own, and ends by itself after the first check that makes the others pointless. Places no
   * call, changes nothing at the provider, and leaves a live trunk of the same configuration alone. The engine interrupts it after 15 s.
   * Left out: the engine knows of the live trunk only.
   */
  readonly verify?: (config: Readonly<Record<string, unknown>>, context: VerifyContext) => Effect.Effect<void, never, Scope.Scope>
}

/** Ties the type of `config` to the fields that were checked before `connect` sees them. */
export const defineAdapter = <const Fields extends CredentialFields>(adapter: {
  readonly manifest: Manifest
  readonly fields: Fields
  readonly connect: (config: ConfigOf<Fields>, context: TrunkContext) => Effect.Effect<Trunk, never, Scope.Scope>
  readonly verify?: (config: ConfigOf<Fields>, context: VerifyContext) => Effect.Effect<void, never, Scope.Scope>
}): Adapter => {
  const { connect, fields, manifest, verify } = adapter
  // The gateway validated the stored configuration against `fields`, from which ConfigOf is derived.
  const typed = (config: Readonly<Record<string, unknown>>) => complete(fields, config) as ConfigOf<Fields>
  return {
    manifest,
    fields,
    connect: (config, context) => connect(typed(config), context),
    ...(verify === undefined ? {} : { verify: (config, context) => verify(typed(config), context) })
  }
}
