/**
 * What Cloudonix' callbacks mean. Nobody signs them, so what they say of an end is only a reason to look: `CloudonixTrunk.ts` finds out itself.
 * They come many times over, in bursts.
 */
import { parse, textAt } from "#adapters/shared/Json.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { isToken } from "./CloudonixReply.ts"
import { isBetweenOthers, liveEvents, sessionIn } from "./CloudonixSession.ts"
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
  return {
    events: [...named, ...liveEvents(session)].map((event) => ({ event })),
    deliveryId: `${callback.kind} ${token} ${status}`
  }
}
