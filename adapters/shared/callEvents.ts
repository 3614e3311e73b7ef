/** The events of a call, made from carriers' callbacks and records. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { CallbackRead } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

/** Leaves out a time that is unknown. */
export const timeOf = (at: number | undefined): { readonly at?: number } => (at === undefined ? {} : { at })

/** `words`: the carrier's own, for an end that only a person can do something about. */
export const hungUp = (cause: HangupCause, at?: number, words?: string): TrunkEvent => ({
  _tag: "HungUp",
  cause,
  ...timeOf(at),
  ...(cause === "no_credit" && words !== undefined ? { detail: words } : {})
})

/**
 * The answer that an end proves, `seconds` before it. Only an answered call has a duration, so the end also reports an answer that was not
 * reported, or is reported later.
 */
export const answerBefore = (endedAt: number | undefined, seconds: number | undefined): TrunkEvent => ({
  _tag: "Answered",
  ...timeOf(endedAt === undefined || seconds === undefined ? undefined : endedAt - seconds * 1000)
})

/** What a call has cost so far; nothing unless that is an amount in some currency. */
export const billOf = (amount = "", currency: string | undefined): ReadonlyArray<TrunkEvent> =>
  currency !== undefined && /^\d{1,12}(\.\d{1,12})?$/.test(amount) ? [{ _tag: "Billed", amount, currency }] : []

/** A call that was canceled, but not by us, has reached its ring timeout. `isWanted`: we have not hung up. */
export const causeOrTimeout = (cause: HangupCause, isWanted: boolean): HangupCause =>
  cause === "originator_cancel" && isWanted ? "ring_timeout" : cause

/** The events of a callback about the call that its address was made for: its id, if that is not known yet, then what has happened. */
export const eventsFor = (call: CallRef | undefined, providerCallId: string, events: ReadonlyArray<TrunkEvent>): CallbackRead["events"] => {
  const named: ReadonlyArray<TrunkEvent> = call?.providerCallId === undefined ? [{ _tag: "Named", providerCallId }] : []
  return [...named, ...events].map((event) => ({ event }))
}
