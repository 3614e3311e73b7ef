/** Why and when a call of Plivo's dialect ended, from a callback or from the call's record, which use different names. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answerBefore, billOf, causeOrTimeout, hungUp } from "./callEvents.ts"
import { causesByCode, causesByStatus, causesByWord, END_OF_DOCUMENT, isOurFault } from "./PlivoDialectCodes.ts"

export interface DialectEnd {
  readonly code: number | undefined
  readonly word?: string | undefined
  /** The reason in words. */
  readonly name?: string | undefined
  readonly status?: string | undefined
  /** False if the carrier says so; undefined if it says nothing about an answer. */
  readonly wasAnswered: boolean | undefined
  /** From the answer to the end. */
  readonly seconds: number | undefined
  /** Undefined without a time zone. */
  readonly endedAt?: number | undefined
  readonly cost?: { readonly amount: string | undefined; readonly currency: string } | undefined
}

/** A refused socket is tried three times, which takes no longer. */
const REFUSED_WITHIN_SECONDS = 5

/** The code is the most specific; the status may be the same for every end. `isWanted`: we have not hung up. */
const causeOf = (end: DialectEnd, isWanted: boolean): HangupCause => {
  const { code = 0, seconds = 0, status = "", wasAnswered, word = "" } = end
  if (isOurFault(code)) return "internal_error"
  if (code === END_OF_DOCUMENT && isWanted && wasAnswered !== false && seconds <= REFUSED_WITHIN_SECONDS) return "media_failure"
  const cause = causesByCode.get(code) ?? (word === "" ? causesByStatus.get(status) : causesByWord.get(word)) ?? "interworking"
  return cause === "normal_clearing" && wasAnswered === false ? "no_answer" : causeOrTimeout(cause, isWanted)
}

/** The answer, if there was one, the end, and what the call cost. */
export const eventsOfEnd = (end: DialectEnd, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const { cost, endedAt, seconds, wasAnswered } = end
  const answer = wasAnswered === true ? [answerBefore(endedAt, seconds)] : []
  return [...answer, hungUp(causeOf(end, isWanted), endedAt, end.name ?? end.word), ...billOf(cost?.amount, cost?.currency)]
}
