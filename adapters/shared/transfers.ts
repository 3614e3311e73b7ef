/** Transfers through hosted carriers: the carrier dials the destination, and reports the outcome at the transfer's own address. */
import { Effect } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { CallbackRead } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { MOST_TRANSFERS, TransferDoubtful, TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import { type HttpRequest, NotSent, type Reply } from "./HttpClient.ts"
import { isE164 } from "./phoneNumbers.ts"
import { detailOf } from "./replies.ts"

const PREFIX = "transfer-"
const LETTERS = "abcdefghijklmnopqrstuvwxyz".slice(0, MOST_TRANSFERS)

/** The kind of a transfer's address, which identifies the transfer. */
const kindOf = (transfer: number): string => PREFIX + LETTERS.charAt(transfer - 1)

/** The transfer that an address of this kind was made for; undefined: none. */
export const transferIn = (kind: string): number | undefined => {
  const at = kind.startsWith(PREFIX) && kind.length === PREFIX.length + 1 ? LETTERS.indexOf(kind.slice(PREFIX.length)) : -1
  return at < 0 ? undefined : at + 1
}

export const joined = (transfer: number): TrunkEvent => ({ _tag: "Transferred", transfer, answered: true })
export const declined = (transfer: number, cause: HangupCause): TrunkEvent => ({ _tag: "Transferred", transfer, answered: false, cause })

/** The outcome, from the events of the destination's own leg. Once it has answered, its end changes nothing. */
export const outcomeOf = (transfer: number, told: ReadonlyArray<TrunkEvent>): CallbackRead["events"] =>
  told.flatMap((event) => {
    if (event._tag === "Answered") return [{ event: joined(transfer) }]
    return event._tag === "HungUp" ? [{ event: declined(transfer, event.cause) }] : []
  })

interface Transferable extends Pick<CallRef, "callId"> {
  /** The carrier's own id of the call. */
  readonly id: string
}

/** How to request a transfer from a carrier. */
export interface TransferVerb {
  /** Builds the request; its numbers are usable. `address`: where the carrier reports the outcome. */
  readonly order: (of: Transferable, request: TransferRequest, address: string) => HttpRequest
  readonly isTaken: (reply: Reply, id: string) => boolean
}

interface Addresses {
  readonly callbackUrl: ((kind: string, callId?: CallRef["callId"]) => string) | undefined
}

const refused = (detail: string) => new TransferRefused({ detail })

export const beginTransfer = Effect.fnUntraced(function* (
  carrier: HostedCarrier,
  { callbackUrl }: Addresses,
  { isTaken, order }: TransferVerb,
  id: string,
  call: CallRef,
  request: TransferRequest
) {
  const { callId } = call
  const { from = call.from, kind, leave, to, transfer } = request
  if (kind === "blind") return yield* refused("this carrier hands a call over only to a destination that has answered")
  if (!isE164(to)) return yield* refused("the destination is not a phone number in E.164")
  if (from === undefined || !isE164(from)) return yield* refused("there is no caller ID in E.164")
  if (callbackUrl === undefined) return yield* refused("the carrier has no address to tell of it")
  const asked = order({ callId, id }, { ...request, from }, callbackUrl(kindOf(transfer), callId))
  const outcome = yield* carrier.outcomeOf({ ...asked, leave: () => leave() })
  if (outcome instanceof NotSent) return yield* refused(outcome.detail)
  if (!("status" in outcome)) return yield* new TransferDoubtful({ detail: outcome.detail })
  if (isTaken(outcome, id)) return
  const { replies } = carrier.account
  const detail = detailOf(outcome, replies)
  const isRefused = outcome.status >= 400 && outcome.status < 500 && replies.errorIn(outcome) !== undefined
  if (!isRefused) return yield* new TransferDoubtful({ detail })
  return yield* new TransferRefused({ detail, isRateLimited: replies.refusalIn(outcome)?.reason === "rate_limited" })
})
