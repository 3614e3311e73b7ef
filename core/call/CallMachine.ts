/**
 * The life of one outbound call:
 *
 *     Dialing --Rang--> Ringing --Answered--> Up --HungUp--> Ended
 *        |  |              |                  |'--we end it--> Closing --HungUp--> Ended
 *        |  |              |                  |'--its audio is lost--> Muted --HungUp--> Ended; it comes back--> Up
 *        |  |              |                  '--it is handed over--> Transferring --answered--> Transferred --HungUp--> Ended; not--> Up
 *        |  '--------------'--an end that may hide an answer--> Held --Answered, or nothing more--> Ended
 *        '--Refused--> Void: it was certainly never placed, or was removed from the provider's queue before its phone rang,
 *                       or the account had no credit for it
 *
 * Any state except Ended and Void may end early. `transition` is the only code that moves a call. Void is final, and so is an end that the
 * provider reported: later events change nothing. An end that we only inferred still accepts the provider's report. An end that is only claimed
 * moves no call: it is checked. Exactly one deadline is set at any time, by the newest `SetDeadline`; one that passed just before it was replaced
 * does no harm.
 */
import { CallCommand, CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { MEDIA_GRACE_MILLIS, MEDIA_LOOK_MILLIS, SILENCES_TO_BELIEVE } from "./CallPatience.ts"
import { closing, ended, held } from "./ending.ts"
import { asAnswered, awaitLastWord, close, endAnswered, lookAgain, notLooked, resumed, ringMillis, to, tooLong } from "./steps.ts"
import { answerOf, talkOf } from "./Talk.ts"
import { handOver, joined, transferred, transferring } from "./transfers.ts"
import { dialing, ringing } from "./unanswered.ts"

const { Dialing, Ended, Muted, Ringing, Up } = CallState.cases
const { Look, Originate, SetDeadline } = CallCommand.cases

/** A new call. */
export const dial = (limits: CallLimits, at: number): Step =>
  to(
    Dialing.make({ request: "inFlight", giveUpAt: at + ringMillis(limits), ...notLooked }),
    SetDeadline.make({ afterMillis: ringMillis(limits) }),
    Originate.make({})
  )

/** A call that comes to us, from a browser: it rings until its audio is connected. */
export const receive = (limits: CallLimits, at: number): Step =>
  to(Ringing.make({ giveUpAt: at + ringMillis(limits), ...notLooked }), SetDeadline.make({ afterMillis: ringMillis(limits) }))

export const transition = (state: CallState, event: CallEvent, limits: CallLimits): Step =>
  CallState.match(state, {
    Dialing: (call) => dialing(call, event, limits),
    Ringing: (call) => ringing(call, event, limits),
    Held: (call) => held(call, event, limits),
    Up: (call) => up(call, event, limits),
    Muted: (call) => muted(call, event, limits),
    Transferring: (call) => transferring(call, event, limits),
    Transferred: (call) => transferred(call, event, limits),
    Closing: (call) => closing(call, event, limits),
    Ended: (call) => ended(call, event),
    Void: (call) => to(call)
  })

const up = (call: typeof Up.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    ...asAnswered(call, limits),
    MediaLost: ({ at, failed }) => {
      const lost = { ...talkOf(call), mutedAt: at, ...notLooked }
      return failed
        ? to(Muted.make({ ...lost, graceUntil: at, isBroken: true }), lookAgain, Look.make({}))
        : to(Muted.make({ ...lost, graceUntil: at + MEDIA_GRACE_MILLIS }), SetDeadline.make({ afterMillis: MEDIA_LOOK_MILLIS }))
    },
    MediaBack: () => to(call),
    TransferAsked: (asked) => handOver(call, asked, limits) ?? to(call),
    Transferred: (event) => joined(call, event, limits) ?? to(call),
    // The ring deadline may have passed while the answer was being handled.
    DeadlinePassed: ({ at }) => (at >= call.answeredAt + limits.maxDurationSeconds * 1000 ? tooLong(call) : to(call)),
    Looked: ({ at, presence }) =>
      presence === "ended"
        ? to(Muted.make({ ...talkOf(call), mutedAt: at, graceUntil: at, isBroken: true, missed: 1, silences: 0 }), awaitLastWord)
        : to(call)
  })

const muted = (call: typeof Muted.Type, event: CallEvent, limits: CallLimits): Step => {
  const { graceUntil, isBroken, mutedAt } = call
  const gone = Ended.make({ ...answerOf(call), cause: "normal_clearing", endedAt: mutedAt, inferred: "gone" })
  return CallEvent.match(event, {
    ...asAnswered(call, limits),
    HungUp: (event) => endAnswered(call, event, limits, isBroken === true ? undefined : mutedAt),
    // The provider has ended the audio, and has no such live call, so the slot does not wait for the record.
    EndChecked: () => to(isBroken === true ? call : gone),
    MediaLost: () => to(call),
    MediaBack: ({ at }) => resumed(call, at, limits),
    TransferAsked: () => to(call),
    // Reported late, or after the end of the audio that it caused.
    Transferred: (event) => joined(call, event, limits) ?? to(call),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, deaf, presence }) => {
      switch (presence) {
        case "queued":
        case "ringing":
        case "up":
          return at < graceUntil
            ? to(call, SetDeadline.make({ afterMillis: graceUntil - at }))
            : close("media_failure", { request: "placed", ...talkOf(call) })
        case "ended":
        case "gone":
        case "never_placed":
          if (deaf) return unheardMuted(call, at)
          return call.missed > 0 ? to(gone) : to(Muted.make({ ...call, missed: 1 }), awaitLastWord)
        case "silent":
          return unheardMuted(call, at)
      }
    }
  })
}

const unheardMuted = (call: typeof Muted.Type, at: number): Step =>
  call.silences + 1 >= SILENCES_TO_BELIEVE
    ? to(Ended.make({ answeredAt: call.answeredAt, cause: "trunk_lost", endedAt: at, inferred: "gone" }))
    : to(Muted.make({ ...call, silences: call.silences + 1 }), lookAgain)
