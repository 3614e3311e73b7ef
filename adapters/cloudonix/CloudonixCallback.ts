/**
 * What Cloudonix' callbacks mean. They are not signed, so a reported end is only a reason to look. They arrive many times over, in bursts.
 */
import { eventsFor } from "#adapters/shared/callEvents.ts"
import { parseBytes, textAt } from "#adapters/shared/Json.ts"
import { transferIn } from "#adapters/shared/transfers.ts"
import { readCxmlTransfer } from "#adapters/shared/twimlTransfer.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CloudonixConfig } from "./CloudonixAccount.ts"
import { tokenIn } from "./CloudonixReplies.ts"
import { isBetweenOthers, lookOf, sessionIn } from "./CloudonixSession.ts"

/** Undefined: about another domain or call than its address. */
export const readCallback = (callback: Callback, { domain_id: domain }: CloudonixConfig): CallbackRead | undefined => {
  const transfer = transferIn(callback.kind)
  if (transfer !== undefined) return readCxmlTransfer(callback, transfer)
  const session = sessionIn(parseBytes(callback.body))
  const [status, token] = [textAt(session, "status"), tokenIn(session)]
  if (token === undefined || status === undefined) return { events: [] }
  const { call } = callback
  const known = call?.providerCallId
  if ((textAt(session, "domain") ?? domain).toLowerCase() !== domain) return undefined
  if (known !== undefined ? known !== token : call !== undefined && isBetweenOthers(session, call)) return undefined
  const look = lookOf(session, token)
  if (look?.presence !== "ended")
    return { events: eventsFor(call, token, look?.told ?? []), deliveryId: `${callback.kind} ${token} ${status}` }
  // It gets no id, so that a forged claim cannot make the genuine one look like a repeat.
  return { events: eventsFor(call, token, [{ _tag: "EndClaimed" }]) }
}
