/**
 * The trunk of a hosted carrier. It is up while the carrier accepts the credentials and can reach us. Nothing is remembered of a call: every verb finds
 * it by its `CallRef`.
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

/** Where the carrier is to reach us about a call. */
export interface Addresses {
  readonly callbackUrl: NonNullable<TrunkContext["callbackUrl"]>
  /** Where the call's audio is served; undefined: nowhere. */
  readonly mediaUrl: string | undefined
}

interface HostedVerbs extends Pick<Trunk, "detects" | "hangup" | "lookup" | "numbers" | "sendDtmf" | "transfer"> {
  /** Gets only requests with usable numbers. */
  readonly originate: (request: OriginateRequest, addresses: Addresses) => ReturnType<Trunk["originate"]>
}

/** A call that is refused because of the credentials has them checked at once. */
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
    // Callbacks come for every call, whoever placed it.
    adopt: () => {},
    reconnect: () => {
      carrier.renewConnections()
      hurry.openUnsafe()
    }
  }
  return trunk
})

/** Why the request would be of no use. */
const unusable = ({ from, to }: OriginateRequest): OriginateRefused | undefined => {
  if (!isE164(to)) {
    return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number in E.164" })
  }
  if (from === undefined) return new OriginateRefused({ reason: "misconfigured", detail: "there is no caller ID" })
  if (!isE164(from)) return new OriginateRefused({ reason: "caller_id_refused", detail: "the caller ID is not a phone number in E.164" })
  return undefined
}

/** What a carrier with one id for each call is asked for. */
interface CarrierVerbs extends Pick<Trunk, "detects" | "numbers"> {
  /** Whether a text can be an id of a call here: others get into no path. */
  readonly isId: (id: string) => boolean
  /** The request for a call. */
  readonly order: (request: OriginateRequest, addresses: Addresses) => HttpRequest
  /** Called when it leaves, or the request for a transfer does, for a carrier that counts requests. */
  readonly left?: () => void
  /** Called when the carrier has named the call, even if that is late, for a carrier that must be asked how calls end. */
  readonly placed?: (call: CallRef) => void
  /** Succeeds if the call has ended, or if the carrier has no such call. */
  readonly hangup: (id: string, call: CallRef) => Effect.Effect<unknown, ProviderError>
  /** Undefined: the carrier has no such call. */
  readonly look: (id: string, call: CallRef) => Effect.Effect<Look | undefined, ProviderError>
  /** The call whose reply was lost. Undefined: none, so far. */
  readonly find: (call: CallRef) => Effect.Effect<Found | undefined, ProviderError>
  readonly transfer?: TransferVerb
  readonly sendDtmf?: { readonly digits: RegExp; readonly send: (id: string, digits: string) => Effect.Effect<unknown, ProviderError> }
}

interface Found {
  readonly providerCallId: string
  /** Undefined: there is no such call any more. */
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

  const originate = Effect.fn(span("originate"))(function* (request: OriginateRequest, addresses: Addresses) {
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
  const { detects, numbers, sendDtmf, transfer } = verbs
  return trunkOf(carrier, context, {
    originate,
    hangup,
    lookup,
    ...(detects === undefined ? {} : { detects }),
    ...(numbers === undefined ? {} : { numbers }),
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
