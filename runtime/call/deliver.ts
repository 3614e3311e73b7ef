/** What a provider event means for a live call: most go into the mailbox of the call's actor, some only change what is known about the call. */
import { type Clock, Deferred, Effect, Schema } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import { withKey } from "#core/call/Dtmf.ts"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import type { detected, TrunkEvent } from "#core/provider/TrunkEvent.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { LiveCall } from "./LiveCall.ts"
import { nameless } from "./originateFailure.ts"

const { Answered, EndAsked, EndClaimed, HungUp, Judged, Placed, Queued, Rang, Transferred } = CallEvent.cases

/** The most values kept from what the provider finds out about a call, and the most characters of each. */
const MAX_GATHERED = 32
const LONGEST_GATHERED = 256

export const deliver = (call: LiveCall, event: TrunkEvent, clock: Clock.Clock): void => {
  const at = SteadyTime.nowOf(clock)
  switch (event._tag) {
    case "Queued":
      call.tell(Queued.make({}))
      return
    case "Placed":
      call.tell(Placed.make({}))
      return
    case "Rang":
      call.tell(Rang.make({}))
      return
    case "Answered":
      noteHandover(call, event.isElsewhere === true, at)
      call.tell(Answered.make({ at, ...toldAt(event) }))
      return
    case "HungUp":
      if (event.cause === "no_credit") noteNoCredit(call, event.detail)
      call.tell(HungUp.make({ at, cause: isHangupCause(event.cause) ? event.cause : "unknown", ...toldAt(event) }))
      return
    case "EndClaimed":
      noteClaim(call)
      return
    case "Detected":
      noteAnswerer(call, event.who, at)
      call.tell(Judged.make({}))
      return
    case "GreetingEnded":
      call.isGreetingOver = true
      call.session?.greetingEnded()
      return
    case "Billed":
      return
    case "Transferred":
      call.tell(Transferred.make({ answered: event.answered, at, transfer: event.transfer }))
      return
    case "VariablesSet":
      call.gathered = gatheredWith(call.gathered, event.values)
      return
    case "Dtmf": {
      const before = call.keys
      call.keys = withKey(before, event.digit)
      if (call.keys !== before) call.session?.dtmf(event.digit, clock.currentTimeMillisUnsafe())
      return
    }
  }
}

/** A campaign that pauses because of this shows the provider's words. */
const noteNoCredit = (call: LiveCall, detail = "A call has ended because the account has no credit."): void => {
  const { ref } = call
  call.refusal = ref.to === undefined ? detail : nameless(detail, ref.to)
}

/** A fax cannot hold a conversation either, and takes no message. */
const noteAnswerer = (call: LiveCall, who: (typeof detected)[number], at: SteadyTime.SteadyMillis): void => {
  const { onMachine } = call.voice
  if (call.answeredBy === undefined || who !== "unknown") call.answeredBy = who
  if (who !== "machine" && who !== "fax") return
  // The conversation decides what happens next.
  if (who === "machine" && call.session !== undefined) return call.session.machineDetected()
  if (onMachine === "hangup" || (who === "fax" && onMachine === "leave_message")) {
    // Counted as a machine, no matter which side ends the call.
    call.isMachine = true
    call.tell(EndAsked.make({ at, cause: "machine_detected" }))
    return
  }
  if (onMachine === "leave_message") call.isMachine = true
  call.session?.machineDetected()
}

/** While a claim is being checked, further claims only note that there is more to check. */
const noteClaim = (call: LiveCall): void => {
  if (call.endClaim !== undefined) call.endClaim = "repeated"
  else if (call.tell(EndClaimed.make({}))) call.endClaim = "checked"
}

const toldAt = ({ at }: { readonly at?: number }) => (at === undefined ? {} : { toldAt: at })

/** An adapter from a package may be plain JavaScript, so no compiler has checked the cause. */
const isHangupCause = Schema.is(HangupCause)

/** Notes whether the answered call is ours yet. Providers repeat and reorder events: once it is ours, it stays ours. */
const noteHandover = (call: LiveCall, isElsewhere: boolean, at: SteadyTime.SteadyMillis): void => {
  if (isElsewhere) {
    if (call.handedOverAt === undefined && call.session === undefined) call.handover ??= Deferred.makeUnsafe()
    return
  }
  if (call.handedOverAt !== undefined) return
  call.handedOverAt = at
  if (call.handover !== undefined) Deferred.doneUnsafe(call.handover, Effect.void)
}

const gatheredWith = (before: Readonly<Record<string, string>> = {}, values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries({ ...before, ...values })
      .slice(0, MAX_GATHERED)
      .map(([name, value]) => [name, String(value).slice(0, LONGEST_GATHERED)])
  )
