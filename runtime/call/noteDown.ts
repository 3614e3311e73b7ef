/**
 * What shows that a call exists goes into the local journal in the moment it is heard. A busy process may take a tenth of a second until the
 * call's actor has its turn, and what it has not written down when it is killed, nobody knows any more.
 */
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import type { LiveCall } from "./LiveCall.ts"

type Journal = LocalJournal["Service"]

/** The provider has the call: so it can never be void. */
export const notePlaced = (journal: Journal, call: LiveCall): void => {
  if (call.noted !== undefined) return
  call.noted = "placed"
  journal.placed(call.attempt.callId)
}

/** `wallMillis`: by the wall clock. */
export const noteEvent = (journal: Journal, call: LiveCall, event: TrunkEvent, wallMillis: number): void => {
  if (event._tag === "Placed" || event._tag === "Rang") notePlaced(journal, call)
  else if (event._tag === "Answered" && call.noted !== "answered") {
    call.noted = "answered"
    journal.answered(call.attempt.callId, wallMillis)
  }
}
