/**
 * Notes in the local journal that a call exists, or does not, the moment the provider says so. In a busy process, a tenth of a second may pass
 * before the call's actor has its turn; if the process were killed in that time without this note, nobody would know.
 */
import type { CallEvent } from "#core/call/Call.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import type { LiveCall } from "./LiveCall.ts"

type Journal = LocalJournal["Service"]
type Refused = typeof CallEvent.cases.Refused.Type

/** The provider has the call, so it can never be void. */
export const notePlaced = (journal: Journal, call: LiveCall): void => {
  if (call.noted !== undefined) return
  call.noted = "placed"
  journal.placed(call.attempt.callId)
}

/** The request was refused. Ignored after any event of the call: its actor, which knows both, decides which to believe. */
export const noteRefused = (journal: Journal, call: LiveCall, { reason }: Refused, wallMillis: number): void => {
  if (call.noted === undefined && !call.wasHeard)
    journal.undone(call.attempt.callId, { at: wallMillis, breakerEntry: countsForBreaker(reason) })
}

/** Whether a call that was never placed, for this reason, counts as a breaker entry. */
export const countsForBreaker = (reason: Refused["reason"]): boolean => reason === "unreachable"

/** `wallMillis` is wall-clock time. */
export const noteEvent = (journal: Journal, call: LiveCall, event: TrunkEvent, wallMillis: number): void => {
  call.wasHeard = true
  if (event._tag === "Placed" || event._tag === "Rang") notePlaced(journal, call)
  else if (event._tag === "Answered" && call.noted !== "answered") {
    call.noted = "answered"
    journal.answered(call.attempt.callId, wallMillis)
  }
}
