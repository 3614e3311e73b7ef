/**
 * The trunk of a hosted carrier. It is up while the carrier accepts the credentials and can reach us. It has no state per call: every verb finds
 * a call by its `CallRef`.
 */
import { Clock, Effect, Latch } from "effect"
import {
  type Look,
  OriginateRefused,
  type OriginateRequest,
  type ProviderError,
  type Trunk,
  type TrunkContext
} from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import { type HostedCarrier, lackOf, unreachable } from "./HostedCarrier.ts"
import type { HttpRequest } from "./HttpClient.ts"
import { keepStatus } from "./keepStatus.ts"
import { isE164 } from "./phoneNumbers.ts"
import { publicAddressStep } from "./setup.ts"
import { beginTransfer, type TransferVerb } from "./transfers.ts"

/** The addresses at which the carrier reaches us about a call. */
export interface Addresses {
  readonly callbackUrl: NonNullable<TrunkContext["callbackUrl"]>
  /** Where the call's audio is served; undefined: nowhere. */
  readonly mediaUrl: string | undefined
}

interface HostedVerbs extends Pick<Trunk, "detects" | "hangup" | "lookup" | "numbers" | "reopenMedia" | "sendDtmf" | "transfer"> {
  /** Gets only requests with usable numbers. */
  readonly originate: (request: OriginateRequest, addresses: Addresses) => ReturnType<Trunk["originate"]>
}

/** If a call is refused because of the credentials, they are checked at once. */
export const trunkOf = Effect.fnUntraced(function* (carrier: HostedCarrier, context: TrunkContext, verbs: HostedVerbs) {
  const { displayName } = carrier.account
  const lack = lackOf(carrier.account)
  const { callbackUrl, mediaUrl, onStatus } = context
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
      return Effect.tapError(verbs.originate(request, { callbackUrl, mediaUrl: mediaUrl?.(request.callId) }), (error) =>
        Effect.sync(() => error._tag === "OriginateRefused" && error.reason === "auth_refused" && hurry.openUnsafe())
      )
    },
    // Callbacks arrive for every call, whichever process placed it.
    adopt: () => {},
    reconnect: () => {
      carrier.renewConnections()
      hurry.openUnsafe()
    }
  }
  return trunk
})

/** Why the request cannot be sent. */
const unusable = ({ from, to }: OriginateRequest): OriginateRefused | undefined => {
  if (!isE164(to)) {
    return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number in E.164" })
  }
  if (from === undefined) return new OriginateRefused({ reason: "misconfigured", detail: "there is no caller ID" })
  if (!isE164(from)) return new OriginateRefused({ reason: "caller_id_refused", detail: "the caller ID is not a phone number in E.164" })
  return undefined
}

/** The operations of a carrier with one id for each call. */
interface CarrierVerbs extends Pick<Trunk, "detects" | "numbers"> {
  /** Whether a text can be a call's id here: nothing else may get into a path. */
  readonly isId: (id: string) => boolean
  /** The request for a call. */
  readonly order: (request: OriginateRequest, addresses: Addresses) => HttpRequest
  /** Called when that request, or one for a transfer, is sent, for a carrier that counts requests. */
  readonly left?: () => void
  /** Called when the carrier has named the call, even if late, for a carrier that must be asked how calls end. */
  readonly placed?: (call: CallRef) => void
  /** Succeeds if the call has ended, or if the carrier has no such call. */
  readonly hangup: (id: string, call: CallRef) => Effect.Effect<unknown, ProviderError>
  /** Undefined: the carrier has no such call. */
  readonly look: (id: string, call: CallRef) => Effect.Effect<Look | undefined, ProviderError>
  /** The call whose reply was lost. Undefined: none, so far. */
  readonly find: (call: CallRef) => Effect.Effect<Found | undefined, ProviderError>
  readonly reopenMedia?: (id: string, mediaUrl: string) => Effect.Effect<unknown, ProviderError>
  readonly transfer?: TransferVerb
  readonly sendDtmf?: { readonly digits: RegExp; readonly send: (id: string, digits: string) => Effect.Effect<unknown, ProviderError> }
}

interface Found {
  readonly providerCallId: string
  /** Undefined: the call no longer exists. */
  readonly look: Look | undefined
}

export const openTrunk = (carrier: HostedCarrier, context: TrunkContext, verbs: CarrierVerbs) => {
  const { error } = carrier
  const span = (verb: string) => `${carrier.account.provider}.${verb}`
  const idOf = (operation: string, { providerCallId: id }: CallRef): Effect.Effect<string, ProviderError> =>
    id === undefined || !verbs.isId(id) ? Effect.fail(error(operation, "the carrier's id of the call is not known")) : Effect.succeed(id)

  const counted = (request: { readonly leave: () => boolean }) => () => {
    const may = request.leave()
    if (may) verbs.left?.()
    return may
  }

  const originate = Effect.fnUntraced(function* (request: OriginateRequest, addresses: Addresses) {
    const { callId, from, to } = request
    const sentAt = yield* Clock.currentTimeMillis
    return yield* carrier.place({ ...verbs.order(request, addresses), leave: counted(request) }, (providerCallId) => {
      verbs.placed?.({ callId, endpoint: undefined, from, providerCallId, sentAt, to })
      context.onEvent(callId, { _tag: "Named", providerCallId })
    })
  })
  const hangup = Effect.fn(span("hangup"))(function* (call: CallRef) {
    yield* verbs.hangup(yield* idOf("hangup", call), call)
  })
  const lookup = Effect.fn(span("lookup"))(function* (call: CallRef) {
    if (call.providerCallId !== undefined) return (yield* verbs.look(yield* idOf("lookup", call), call)) ?? gone
    const found = yield* verbs.find(call)
    if (found === undefined) return gone
    const { presence, told } = found.look ?? gone
    return { presence, told: [{ _tag: "Named", providerCallId: found.providerCallId } as const, ...told] }
  })
  const { detects, numbers, reopenMedia, sendDtmf, transfer } = verbs
  return trunkOf(carrier, context, {
    originate,
    hangup,
    lookup,
    ...(detects === undefined ? {} : { detects }),
    ...(numbers === undefined ? {} : { numbers }),
    ...(reopenMedia === undefined
      ? {}
      : {
          reopenMedia: Effect.fn(span("reopenMedia"))(function* (call: CallRef) {
            const url = context.mediaUrl?.(call.callId)
            if (url === undefined) return yield* error("reopenMedia", "there is no address for audio")
            yield* reopenMedia(yield* idOf("reopenMedia", call), url)
          })
        }),
    ...(transfer === undefined
      ? {}
      : {
          transfer: Effect.fn(span("transfer"))(function* (call: CallRef, request: TransferRequest) {
            const id = yield* Effect.mapError(idOf("transfer", call), ({ detail }) => new TransferRefused({ detail }))
            yield* beginTransfer(carrier, context, transfer, id, call, { ...request, leave: counted(request) })
          })
        }),
    ...(sendDtmf === undefined
      ? {}
      : {
          sendDtmf: Effect.fn(span("sendDtmf"))(function* (call: CallRef, digits: string) {
            if (!sendDtmf.digits.test(digits)) return yield* error("sendDtmf", "not keys that the carrier can send")
            yield* sendDtmf.send(yield* idOf("sendDtmf", call), digits)
          })
        })
  })
}

const gone: Look = { presence: "gone", told: [] }
