/**
 * What Cloudonix' callbacks mean. Nobody signs them, so what they say of an end is only a reason to look. They come many times over, in bursts.
 */
import { parse, textAt } from "#adapters/shared/Json.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { isToken } from "./CloudonixReply.ts"
import { isBetweenOthers, lookOf, sessionIn } from "./CloudonixSession.ts"
import { proofOf } from "./staticKey.ts"

/** Undefined: without the domain's key, or about another domain or call than its address. */
export const readCallback = (callback: Callback, domain: string, key: string): CallbackRead | undefined => {
  if (proofOf(callback, key) === undefined) return undefined
  const session = sessionIn(parse(Buffer.from(callback.body).toString()))
  const [status, token] = [textAt(session, "status"), textAt(session, "token")]
  if (!isToken(token) || status === undefined) return { events: [] }
  const { call } = callback
  const known = call?.providerCallId
  if ((textAt(session, "domain") ?? domain).toLowerCase() !== domain) return undefined
  if (known !== undefined ? known !== token : call !== undefined && isBetweenOthers(session, call)) return undefined
  const named: ReadonlyArray<TrunkEvent> = known === undefined ? [{ _tag: "Named", providerCallId: token }] : []
  const told = lookOf(session, token)
  const hasEnded = told?.presence === "ended"
  const events: ReadonlyArray<TrunkEvent> = hasEnded ? [...named, { _tag: "EndClaimed" }] : [...named, ...(told?.told ?? [])]
  // A false claim must not make the true one a repeat.
  const id = hasEnded ? {} : { deliveryId: `${callback.kind} ${token} ${status}` }
  return { events: events.map((event) => ({ event })), ...id }
}
