/** Why and when a call of Plivo's dialect ended: told by a callback or by the call's record, under other names. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { causesByCode, causesByStatus, causesByWord, END_OF_DOCUMENT, isOurFault } from "./PlivoDialectCodes.ts"

export interface DialectEnd {
  readonly code: number | undefined
  readonly word?: string | undefined
  readonly status?: string | undefined
  /** False if the carrier says so; undefined if it says nothing about an answer. */
  readonly wasAnswered: boolean | undefined
  /** From the answer to the end. */
  readonly seconds: number | undefined
  /** Undefined without a time zone. */
  readonly endedAt?: number | undefined
  readonly cost?: { readonly amount: string | undefined; readonly currency: string } | undefined
}

/** A socket that is refused is tried three times, which takes no longer. */
const REFUSED_WITHIN_SECONDS = 5

/** The code says most; the status may be the same for every end. `isWanted`: we have not hung up. */
const causeOf = (end: DialectEnd, isWanted: boolean): HangupCause => {
  const { code = 0, seconds = 0, status = "", wasAnswered, word = "" } = end
  if (isOurFault(code)) return "internal_error"
  if (code === END_OF_DOCUMENT && isWanted && wasAnswered !== false && seconds <= REFUSED_WITHIN_SECONDS) return "media_failure"
  const cause = causesByCode.get(code) ?? (word === "" ? causesByStatus.get(status) : causesByWord.get(word)) ?? "interworking"
  if (cause === "originator_cancel" && isWanted) return "ring_timeout"
  return cause === "normal_clearing" && wasAnswered === false ? "no_answer" : cause
}

/** Only what was answered has lasted: if the answer was not told, or is told later, it is told by the end. */
export const eventsOfEnd = (end: DialectEnd, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const { cost, endedAt, seconds, wasAnswered } = end
  const events: Array<TrunkEvent> = []
  const answeredAt = endedAt === undefined || seconds === undefined ? {} : { at: endedAt - seconds * 1000 }
  if (wasAnswered === true) events.push({ _tag: "Answered", ...answeredAt })
  events.push({ _tag: "HungUp", cause: causeOf(end, isWanted), ...(endedAt === undefined ? {} : { at: endedAt }) })
  const amount = cost?.amount ?? ""
  if (cost !== undefined && /^\d{1,9}(\.\d{1,9})?$/.test(amount)) events.push({ _tag: "Billed", amount, currency: cost.currency })
  return events
}

/** Times of the dialect are local, and mean something only with their zone. */
export const zonedTime = (text: string | undefined): number | undefined => {
  const at = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text ?? "")
    ? Date.parse((text ?? "").replace(" ", "T"))
    : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
