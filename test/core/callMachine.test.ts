/** The machine that moves a call: its table, and the laws that hold whatever a provider reports, in any order and with repeats. */
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import t from "tap"
import { CallEvent, type CallState, isOver, type Step } from "#core/call/Call.ts"
import { transition } from "#core/call/CallMachine.ts"
import { recoverAnswered, recoverElsewhere, recoverSent } from "#core/call/recoveredCall.ts"
import { mayHideAnswer } from "#core/outcome/HangupCause.ts"
import {
  limits,
  GIVE_UP,
  fresh,
  follow,
  commandsOf,
  doubted,
  answered,
  hungUp,
  refused,
  endAsked,
  rang,
  looked
} from "#test/support/callStory.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { checkFrom, hangsUp, looks, waits } from "./callChecks.ts"

const {
  Accepted,
  Answered,
  DeadlinePassed,
  Doubted,
  EndAsked,
  EndChecked,
  EndClaimed,
  HungUp,
  Looked,
  MediaBack,
  MediaLost,
  Rang,
  Refused,
  Transferred,
  TransferAsked
} = CallEvent.cases

t.test("given a new call, then its deadline is set before its request leaves", async (t) => {
  t.strictSame(fresh, {
    state: { _tag: "Dialing", giveUpAt: GIVE_UP, request: "inFlight", missed: 0, silences: 0 },
    commands: [{ _tag: "SetDeadline", afterMillis: GIVE_UP }, { _tag: "Originate" }]
  })
})

t.test("given the life of a call, when an event comes, then it follows the diagram", async (t) => {
  const check = checkFrom(t, fresh)
  check("accepted", [Accepted.make({})], { _tag: "Dialing", request: "accepted" })
  check("refused", [refused], { _tag: "Void", reason: "rate_limited", at: 100 })
  check("doubted", [doubted], { _tag: "Dialing", request: "doubtful" }, looks)
  check("accepted, then doubted", [Accepted.make({}), doubted], { _tag: "Dialing", request: "accepted" }, looks)
  check("rings", [rang], { _tag: "Ringing", giveUpAt: GIVE_UP })
  check("busy", [HungUp.make({ at: 50, cause: "user_busy" })], { _tag: "Ended", cause: "user_busy", endedAt: 50 })
  check("asked to end", [endAsked], { _tag: "Closing", request: "inFlight", cause: "originator_cancel" }, hangsUp)
  check("asked to end twice", [endAsked, endAsked], { _tag: "Closing" }, ["Hangup"])
  check("answered", [answered], { _tag: "Up", answeredAt: 5000 }, ["SetDeadline", "AttachVoice"])
  check("rings, then no answer in time", [rang, looked("ringing", GIVE_UP)], { _tag: "Closing", cause: "ring_timeout" }, hangsUp)
  check("rings, answered", [rang, answered], { _tag: "Up", answeredAt: 5000 }, ["SetDeadline", "AttachVoice"])
  check("rings, then refused", [rang, refused], { _tag: "Ringing" })
  check("answered, rings late", [answered, rang], { _tag: "Up" })
  check("answered twice", [answered, Answered.make({ at: 7000 })], { _tag: "Up", answeredAt: 5000 })
  check("hung up", [answered, hungUp], { _tag: "Ended", answeredAt: 5000, endedAt: 9000, cause: "normal_clearing" })
  check("ended by us", [answered, endAsked, hungUp], { _tag: "Ended", answeredAt: 5000, cause: "originator_cancel" })
  check("too long", [answered, DeadlinePassed.make({ at: 305_000 })], { _tag: "Closing", cause: "duration_exceeded" }, hangsUp)
  check("closing, placed only now", [endAsked, Accepted.make({})], { _tag: "Closing", request: "placed" }, ["Hangup"])
  check("closing, never left", [endAsked, refused], { _tag: "Void" })
  check("closing, rings, refused", [endAsked, rang, refused], { _tag: "Closing", request: "placed" })
  check("closing while the callee picks up", [endAsked, answered, hungUp], { _tag: "Ended", answeredAt: 5000, cause: "originator_cancel" })
  check("closing, not found once", [endAsked, looked("gone", 10_000)], { _tag: "Closing", missed: 1 }, waits)
  check("closing, no answer, then not found once", [endAsked, looked("silent", 10_000), looked("gone", 20_000)], { _tag: "Closing" }, waits)
  check("closing, still there", [endAsked, looked("up", 10_000)], { _tag: "Closing" }, hangsUp)
})

t.test("given a doubtful call, when the provider is asked, then its answer decides", async (t) => {
  const check = checkFrom(t, follow(fresh, [doubted]))
  check("never placed", [looked("never_placed", 20_000)], { _tag: "Void", reason: "unreachable" })
  check("found ringing", [looked("ringing", 20_000)], { _tag: "Ringing" }, waits)
  check("found ringing past its time", [looked("ringing", GIVE_UP)], { _tag: "Closing", cause: "ring_timeout" }, hangsUp)
  const up = looked("up", 20_000)
  check("found answered, then its event may be late", [up], { _tag: "Ringing", upAt: 20_000 }, waits)
  check("found answered, and told so", [up, Answered.make({ at: 24_000 })], { _tag: "Up" }, ["SetDeadline", "AttachVoice"])
  check("found answered, and ringing in a record that is behind", [up, looked("ringing", 21_000)], { _tag: "Ringing", upAt: 20_000 }, waits)
  check(
    "found answered for too long without a word",
    [up, looked("up", 25_000)],
    { _tag: "Closing", cause: "trunk_lost", answeredAt: 20_000 },
    hangsUp
  )
  check(
    "found answered, then busy after all",
    [up, HungUp.make({ at: 21_000, cause: "user_busy" })],
    { _tag: "Held", answeredAt: 20_000 },
    looks
  )
  check("found answered, then no more", [up, looked("gone", 25_000), looked("gone", 35_000), looked("gone", 45_000)], {
    _tag: "Ended",
    answeredAt: 20_000,
    cause: "trunk_lost",
    inferred: "gone"
  })
  check("not found yet", [looked("gone", 20_000), looked("gone", 30_000), looked("gone", 40_000)], { _tag: "Dialing", missed: 3 }, waits)
  check("never found", [looked("gone", 20_000), looked("gone", 30_000), looked("gone", GIVE_UP)], { _tag: "Ended", cause: "written_off" })
  t.test("and rings after all, then the look that was under way does not end it", async () => {
    check("found ringing", [rang, looked("ringing", 20_000)], { _tag: "Ringing" }, waits)
    check("the look's own deadline", [rang, DeadlinePassed.make({ at: 25_000 })], { _tag: "Ringing" }, looks)
  })
})

t.test("given a call whose request has no answer yet, when it is not found, then it is not void: it may be under way", async (t) => {
  t.match(follow(fresh, [looked("never_placed", GIVE_UP)]).state, { _tag: "Dialing", missed: 1 })
})

t.test("given an answered call, when the deadline of its ringing passes late, then the conversation continues", async (t) => {
  t.strictSame(follow(fresh, [answered, DeadlinePassed.make({ at: GIVE_UP })]).commands, [])
  t.match(follow(fresh, [answered, DeadlinePassed.make({ at: GIVE_UP })]).state, { _tag: "Up" })
})

/** What can happen, without its time. */
const presences = ["ringing", "up", "ended", "gone", "never_placed", "silent"] as const
const reasons = ["unreachable", "rate_limited", "auth_refused", "permit_lapsed"] as const
type Occurrence = (at: number) => CallEvent
const anyOccurrence: fc.Arbitrary<Occurrence> = fc.oneof(
  fc.constant<Occurrence>(() => Accepted.make({})),
  fc.constantFrom(...reasons).map(
    (reason): Occurrence =>
      (at) =>
        Refused.make({ at, reason })
  ),
  fc.constant<Occurrence>((at) => Doubted.make({ at })),
  fc.constant<Occurrence>(() => Rang.make({})),
  fc.constant<Occurrence>((at) => Answered.make({ at })),
  fc.constantFrom("normal_clearing" as const, "user_busy" as const).map(
    (cause): Occurrence =>
      (at) =>
        HungUp.make({ at, cause })
  ),
  fc.constant<Occurrence>(() => EndClaimed.make({})),
  fc.constant<Occurrence>((at) => EndChecked.make({ at })),
  fc.boolean().map(
    (failed): Occurrence =>
      (at) =>
        MediaLost.make({ at, failed })
  ),
  fc.constantFrom("originator_cancel" as const, "machine_detected" as const).map(
    (cause): Occurrence =>
      (at) =>
        EndAsked.make({ at, cause })
  ),
  fc.constant<Occurrence>((at) => MediaBack.make({ at })),
  fc.constant<Occurrence>((at) => TransferAsked.make({ at, destination: { kind: "attended", timeoutSeconds: 30, to: "+15550100" } })),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3 })).map(
    ([answered, transfer]): Occurrence =>
      (at) =>
        Transferred.make({ answered, at, transfer })
  ),
  fc.constant<Occurrence>((at) => DeadlinePassed.make({ at })),
  fc.tuple(fc.constantFrom(...presences), fc.boolean()).map(
    ([presence, deaf]): Occurrence =>
      (at) =>
        Looked.make({ at, deaf, presence })
  )
)
const anyStory = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), anyOccurrence), { maxLength: 30, size: "max" })
const anyFirst = fc.constantFrom(
  fresh,
  recoverSent(limits, 0, "none"),
  recoverSent(limits, 0, "placed"),
  recoverAnswered(0, undefined),
  recoverElsewhere(limits, "none", true),
  recoverElsewhere(limits, "placed", false)
)

interface Moment {
  readonly at: number
  readonly event: CallEvent
  readonly before: CallState
  readonly step: Step
}
/** Every step of a story, in which each event comes some time after the previous one. */
const tell = (first: Step, story: ReadonlyArray<readonly [number, Occurrence]>): ReadonlyArray<Moment> => {
  const moments: Array<Moment> = []
  let at = 0
  let state = first.state
  for (const [later, occurrence] of story) {
    at += later
    const event = occurrence(at)
    const step = transition(state, event, limits)
    moments.push({ at, before: state, event, step })
    state = step.state
  }
  return moments
}
const always = (seed: number, law: (moments: ReadonlyArray<Moment>, first: Step) => boolean) =>
  forAllOf({ numRuns: 3000, seed }, anyFirst, anyStory, (first, story) => law(tell(first, story), first))
const count = (moments: ReadonlyArray<Moment>, command: string) =>
  moments.flatMap(({ step }) => commandsOf(step)).filter((tag) => tag === command).length
const isPickedUp = (state: CallState) => "answeredAt" in state && state.answeredAt !== undefined

t.test("given any events, in any order, with repeats", async (t) => {
  t.test("then a told end and Void are final, an inferred end takes one word of the provider, and all are silent", async () => {
    const isFinal = (state: CallState) => state._tag === "Void" || (state._tag === "Ended" && state.inferred === undefined)
    always(1, (moments) =>
      moments.every(
        ({ before, event, step }) =>
          !isOver(before) ||
          (step.commands.length === 0 && (step.state === before || (!isFinal(before) && event._tag === "HungUp" && isFinal(step.state))))
      )
    )
  })
  t.test("then a claim that a call has ended leads to a check, and only changes how long it is looked for", async () => {
    const fresh = (state: CallState) => (state._tag === "Dialing" || state._tag === "Ringing" ? { ...state, missed: 0 } : state)
    always(10, (moments) =>
      moments.every(
        ({ before, event, step }) =>
          event._tag !== "EndClaimed" ||
          (isDeepStrictEqual(step.state, fresh(before)) && commandsOf(step).join() === (isOver(before) ? "" : "CheckEnd"))
      )
    )
  })
  t.test("then no request leaves but the first", async () => {
    always(2, (moments) => count(moments, "Originate") === 0)
  })
  t.test("then each transfer is begun once, for a callee who is with the agent, and as the next one", async () => {
    const begun = (step: Step) => step.commands.flatMap((command) => (command._tag === "Transfer" ? [command.transfer] : []))
    always(15, (moments) =>
      moments.every(
        ({ before, event, step }) =>
          begun(step).length === 0 ||
          (before._tag === "Up" && event._tag === "TransferAsked" && begun(step)[0] === (before.transfers ?? 0) + 1)
      )
    )
  })
  t.test("then the audio is attached once at most, and only on an answer", async () => {
    always(
      3,
      (moments) =>
        count(moments, "AttachVoice") <= 1 &&
        moments.every(({ event, step }) => !commandsOf(step).includes("AttachVoice") || event._tag === "Answered")
    )
  })
  t.test("then only a refusal or proof makes a call void, and only without evidence of it", async () => {
    always(4, (moments) => {
      const end = moments.findIndex(({ step }) => step.state._tag === "Void")
      const cause = moments[end]?.event
      const isProof = cause === undefined || cause._tag === "Refused" || (cause._tag === "Looked" && cause.presence === "never_placed")
      const isEvidence = ({ event }: Moment) =>
        event._tag === "Rang" ||
        event._tag === "Answered" ||
        (event._tag === "Looked" && (event.presence === "ringing" || event.presence === "up"))
      return isProof && !moments.slice(0, Math.max(0, end)).some(isEvidence)
    })
  })
  t.test("then an answered call never becomes unanswered, and keeps the moment of its answer", async () => {
    const answerOf = (state: CallState) => ("answeredAt" in state ? state.answeredAt : undefined)
    always(5, (moments) => moments.every(({ before, step }) => !isPickedUp(before) || answerOf(step.state) === answerOf(before)))
  })
  t.test("then an answer that comes before the end is never lost", async () => {
    always(6, (moments) =>
      moments.every(({ before, event, step }) => event._tag !== "Answered" || isOver(before) || isPickedUp(step.state))
    )
  })
  t.test("then a call that closes never goes back", async () => {
    always(7, (moments) =>
      moments.every(({ before, step }) => before._tag !== "Closing" || ["Closing", "Held"].includes(step.state._tag) || isOver(step.state))
    )
  })
  t.test("then an end that may hide an answer never decides at once about a call without one", async () => {
    always(12, (moments) =>
      moments.every(
        ({ before, event, step }) =>
          event._tag !== "HungUp" || !mayHideAnswer(event.cause) || isOver(before) || isPickedUp(before) || step.state._tag === "Held"
      )
    )
  })
  t.test("then a held end is held for fifteen seconds at most", async () => {
    always(13, (moments) =>
      moments.every(
        ({ at, before, event, step }) =>
          before._tag !== "Held" || event._tag !== "DeadlinePassed" || at < before.endedAt + 15_000 || step.state._tag !== "Held"
      )
    )
  })
  t.test("then lost audio alone never fails a call: only one that was found alive, or whose provider is silent", async () => {
    always(14, (moments) =>
      moments.every(
        ({ before, event, step }) =>
          before._tag !== "Muted" ||
          !("cause" in step.state) ||
          step.state.cause !== "media_failure" ||
          (event._tag === "Looked" && (event.presence === "up" || event.presence === "ringing"))
      )
    )
  })
})

/** The latest deadline set, after a step that began at `at`. */
const deadlineAfter = (at: number, step: Step, before: number | undefined) =>
  step.commands.reduce<number | undefined>(
    (deadline, command) => (command._tag === "SetDeadline" ? at + command.afterMillis : deadline),
    before
  )

t.test("given any story, then a live call always has a deadline, and each that passes sets the next", async () => {
  always(8, (moments, first) => {
    let deadline = deadlineAfter(0, first, undefined)
    return moments.every(({ at, event, step }) => {
      const isReal = event._tag === "DeadlinePassed" && deadline !== undefined && at >= deadline
      deadline = deadlineAfter(at, step, isReal ? undefined : deadline)
      return isOver(step.state) || deadline !== undefined
    })
  })
})

/** Continues with nothing but deadlines, and looks that get `presence`; returns how many deadlines it took to the end. */
const deadlinesToTheEnd = (first: Step, story: ReadonlyArray<readonly [number, Occurrence]>, presence: (typeof presences)[number]) => {
  const moments = tell(first, story)
  let step = moments.at(-1)?.step ?? first
  let at = moments.at(-1)?.at ?? 0
  let passed = 0
  for (; !isOver(step.state) && passed < 200; passed++) {
    at += 1_200_000
    step = transition(step.state, DeadlinePassed.make({ at }), limits)
    step = transition(step.state, looked(presence, at), limits)
  }
  return passed
}

t.test("given any story, when the provider says nothing more", async (t) => {
  const check = (seed: number, presence: "gone" | "silent" | "never_placed", most: number) =>
    forAllOf({ numRuns: 1000, seed }, anyFirst, anyStory, (first, story) => deadlinesToTheEnd(first, story, presence) <= most)
  t.test("and does not know the call, then it ends after a few looks", async () => {
    check(9, "gone", 8)
    check(10, "never_placed", 8)
  })
  t.test("and answers no look, then it still ends", async () => {
    check(11, "silent", 130)
  })
})
