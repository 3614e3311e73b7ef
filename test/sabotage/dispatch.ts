/** Sabotages of dispatch: who is dialed and when, how often, and what is made of it. */
import { named } from "./Sabotage.ts"

export const dispatch = named({
  // What a claim may take.
  "Only its present owner claims contacts of a campaign.": {
    file: "core/call/AttemptBeginning.ts",
    text: "AND owner_epoch = ",
    replacement: "AND 0 <= ",
    caughtBy: "test/store/claimable.test.ts"
  },
  "A paused campaign claims nothing, not even under its present permits.": {
    file: "core/call/AttemptBeginning.ts",
    text: " AND state = 'running'\n        AND owner_epoch",
    replacement: "\n        AND owner_epoch",
    caughtBy: "test/store/claimable.test.ts"
  },
  "A retry is not claimed before it is due.": {
    file: "core/call/AttemptBeginning.ts",
    text: "/ 1000) AND due_at <= to_timestamp(",
    replacement: "/ 1000) AND due_at <= to_timestamp(1e9 + ",
    caughtBy: "test/store/claimable.test.ts"
  },
  "A number that has opted out is not claimed.": {
    file: "core/call/AttemptBeginning.ts",
    text: "CROSS JOIN owned WHERE NOT is_out",
    replacement: "CROSS JOIN owned",
    caughtBy: "test/store/optOuts.test.ts"
  },
  "A number that is in a call is not claimed again, whichever campaigns it is in.": {
    file: "core/call/AttemptBeginning.ts",
    text: "phone_number, caller_number, true\n      FROM numbered",
    replacement: "phone_number, caller_number, false\n      FROM numbered",
    caughtBy: "test/store/numberHold.test.ts"
  },
  "Outside its window, a campaign claims nothing.": {
    file: "core/campaign/decide.ts",
    text: "view.window.open ? decideInWindow(told, view, view.trunk) : outsideWindow(told)",
    replacement: "decideInWindow(told, view, view.trunk)",
    caughtBy: "test/core/decide.test.ts"
  },

  "The clock of an engine follows that of its database.": {
    file: "runtime/lock/EngineClock.ts",
    text: "millis - now), millis - askedAt)",
    replacement: "-Infinity), Infinity)",
    caughtBy: "test/runtime/engineClock.test.ts"
  },
  "Each beat of the engine that decides asks the database for the time.": {
    file: "runtime/postgres/LockStore.ts",
    text: "askForTime(\n          `UPDATE",
    replacement: "ask(\n          `UPDATE",
    caughtBy: "test/runtime/engineLock.test.ts"
  },

  // What is checked right before a request leaves.
  "The permit is checked again right before the first byte.": {
    file: "runtime/call/originate.ts",
    text: "    if (!this.mayLeave()) return false\n",
    replacement: "",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "A permit ends when the window closes.": {
    file: "runtime/campaign/CampaignMemory.ts",
    text: "return state.open && (state.closesAt === undefined || state.closesAt > now + aheadMillis)",
    replacement: "return state !== undefined",
    caughtBy: "test/runtime/campaignActor.test.ts"
  },
  "An engine without the lock dials nobody.": {
    file: "runtime/call/originate.ts",
    text: "return charge.mayDial() && dialing.permit.holds()",
    replacement: "return dialing.permit.holds()",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "Transfers of calls on other engines leave under the rates of the one that decides.": {
    file: "runtime/nodes/RemoteTransfers.ts",
    text: "if (charge.isTaken()) return",
    replacement: "if (!charge.isTaken()) return",
    caughtBy: "test/runtime/remoteTransfers.test.ts"
  },
  "A call node may send nothing after the proof of the engine that allowed it has lapsed.": {
    file: "runtime/nodes/DispatchedCalls.ts",
    text: "if (!lock.isHeld(GRANT_MILLIS))",
    replacement: "if (!lock.isHeld())",
    caughtBy: "test/runtime/dispatchedCalls.test.ts"
  },
  "The same holds for transfers.": {
    file: "runtime/nodes/DispatchedTransfers.ts",
    text: "if (!lock.isHeld(GRANT_MILLIS))",
    replacement: "if (!lock.isHeld())",
    caughtBy: "test/runtime/remoteTransfers.test.ts"
  },
  "What an engine allowed before it was killed counts for as long as the permission lasts.": {
    file: "runtime/lock/Incumbent.ts",
    text: "Math.min(decidedUntil + grantMillis, provenUntil)",
    replacement: "Math.min(decidedUntil, provenUntil)",
    caughtBy: "test/runtime/engineLock.test.ts"
  },
  "An engine is told when an organization chooses other services for its agents.": {
    file: "runtime/nodes/CarriedCalls.ts",
    text: "this.#means.models.changed(message.organizationId)",
    replacement: "Effect.void",
    caughtBy: "test/journey/secondEngine.test.ts"
  },
  "A number that opts out after its contact was claimed is not dialed.": {
    file: "runtime/call/originate.ts",
    text: " && !optOuts.has(call.attempt.organizationId, dialing.phoneNumber)",
    replacement: "",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "The journal has the call before its first byte is written, not after it.": {
    file: "runtime/call/originate.ts",
    text: "if (this.isPutOff || !local.left(callId, endpoint, contact)) return false",
    replacement: "if (this.isPutOff) return false\n    queueMicrotask(() => void local.left(callId, endpoint, contact))",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "A request that was frozen right before its first byte is not sent.": {
    file: "runtime/call/originate.ts",
    text: "if (realMillis() > askedAt + CHECKED_MILLIS) {",
    replacement: "if (realMillis() < askedAt) {",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "A request that was frozen while it left counts from when it was written.": {
    file: "runtime/dispatch/CallRate.ts",
    text: "departed.at = askedAt + passed",
    replacement: "departed.at = askedAt",
    caughtBy: "test/runtime/callRateLives.test.ts"
  },
  "A request whose outcome is unknown is never sent again.": {
    file: "core/call/unanswered.ts",
    text: 'request: call.request === "accepted" ? "accepted" : "doubtful" }), lookAgain, Look.make({}))',
    replacement: 'request: call.request === "accepted" ? "accepted" : "doubtful" }), lookAgain, CallCommand.cases.Originate.make({}))',
    caughtBy: "test/core/callMachine.test.ts"
  },

  // Limits.
  "No rolling second has more requests than the rate.": {
    file: "core/campaign/Pacing.ts",
    text: "this.#left.at(-Math.ceil(this.rate))",
    replacement: "this.#left.at(-Math.ceil(this.rate) - 1)",
    caughtBy: "test/runtime/callRate.test.ts"
  },
  "No more calls are up than the limit.": {
    file: "runtime/dispatch/Slots.ts",
    text: "limit === undefined || this.used(key) < limit",
    replacement: "limit === undefined || this.used(key) <= limit",
    caughtBy: "test/runtime/campaignActor.test.ts"
  },
  "A slot that is released twice is free once.": {
    file: "runtime/dispatch/Slots.ts",
    text: "    this.#held.delete(holder)\n",
    replacement: "",
    caughtBy: "test/runtime/slots.test.ts"
  },
  "When a doubt ends, its slot is free.": {
    file: "runtime/call/Doubts.ts",
    text: "    slots.release(callId)\n",
    replacement: "",
    caughtBy: "test/runtime/lateCalls.test.ts"
  },
  "The breaker counts a failure once, before and after its end is on record.": {
    file: "core/campaign/BreakerWindow.ts",
    text: "    this.#pending.delete(callId)\n",
    replacement: "",
    caughtBy: "test/core/breakerWindow.test.ts"
  },
  "The edges of a window follow the change of the clocks.": {
    file: "core/campaign/Schedule.ts",
    text: "const changes = offsetAt(format, step) !== offset",
    replacement: "const changes = false",
    caughtBy: "test/core/campaignRules.test.ts"
  },

  // What follows from how a call ended.
  "An end that arrives before the answer is not final.": {
    file: "core/call/steps.ts",
    text: "if (talk.isUndialed !== true && !mayHideAnswer(cause) && talk.answeredAt === undefined)",
    replacement: "if (talk.isUndialed !== true && talk.answeredAt === undefined)",
    caughtBy: "test/core/callEnds.test.ts"
  },
  "A busy phone is not an answer.": {
    file: "core/outcome/Outcome.ts",
    text: 'user_busy: "busy"',
    replacement: 'user_busy: "answered"',
    caughtBy: "test/core/call.test.ts"
  },
  "A contact whose call is unknown is not dialed again.": {
    file: "core/campaign/RetryPolicy.ts",
    text: "return isReason(outcome) ? outcome : undefined",
    replacement: 'return outcome === "unknown" ? "no_answer" : isReason(outcome) ? outcome : undefined',
    caughtBy: "test/core/campaignRules.test.ts"
  },
  "A contact is not dialed more often than the campaign allows.": {
    file: "core/campaign/RetryPolicy.ts",
    text: "waiting.config.enabled && waiting.retriesUsed <= waiting.config.maxRetries &&",
    replacement: "waiting.config.enabled &&",
    caughtBy: "test/core/campaignRules.test.ts"
  },
  "An end that comes after the recorded one changes nothing, and is not counted.": {
    file: "core/call/AttemptEnding.ts",
    text: "locked.state IN ('intent', 'sent', 'answered')",
    replacement: "locked.state IN ('intent', 'sent', 'answered', 'ended')",
    caughtBy: "test/store/endings.test.ts"
  },
  "A campaign is not complete before its last contact is.": {
    file: "core/call/AttemptEnding.ts",
    text: "sums.completed + sums.failed = total_rows THEN 'completed' ELSE state END",
    replacement: "sums.completed + sums.failed >= total_rows - 1 THEN 'completed' ELSE state END",
    caughtBy: "test/store/endings.test.ts"
  },
  "A contact that an earlier process was dialing is given back only with proof that its request never left.": {
    file: "runtime/campaign/settling.ts",
    text: 'known.left === "never_left"',
    replacement: 'known.left !== "left"',
    caughtBy: "test/runtime/settling.test.ts"
  },
  "A callee who answers before the call has its actor is greeted.": {
    file: "runtime/call/CallSupervisor.ts",
    text: "for (const event of late.missedBy(call)) trunk.hear(attempt.callId, event)",
    replacement: "late.missedBy(call)",
    caughtBy: "test/runtime/earlyAnswers.test.ts"
  },
  "Requests that come together are answered together.": {
    file: "gateway/request/together.ts",
    text: "if (round !== undefined) return Deferred.await((round.next ??= Deferred.makeUnsafe()))",
    replacement: "if (round !== undefined) return reply",
    caughtBy: "test/gateway/together.test.ts"
  }
})
