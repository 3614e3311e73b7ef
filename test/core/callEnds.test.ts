/** Unusual ends of calls: before their answer, unreported by the provider, or of a call that may not exist yet. */
import t, { type Test } from "tap"
import { CallEvent, type Step } from "#core/call/Call.ts"
import { HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import { outcomeOf } from "#core/outcome/Outcome.ts"
import {
  GIVE_UP,
  fresh,
  follow,
  commandsOf,
  doubted,
  answered,
  hungUp,
  limits,
  refused,
  endAsked,
  rang,
  looked,
  passed
} from "#test/support/callStory.ts"
import { checkFrom, hangsUp, looks, stateFrom, waits } from "./callChecks.ts"

const { Accepted, Answered, EndAsked, EndChecked, HungUp, Judged, MediaBack, MediaLost } = CallEvent.cases

t.test("given a call that we end", async (t) => {
  const gone = (count: number) => Array.from({ length: count }, (_, i) => looked("gone", 20_000 + i * 10_000))
  const check = stateFrom(t, fresh)
  check("while its reply is awaited, then it is not given up after two misses", [endAsked, ...gone(2)], { _tag: "Closing" })
  check("nor after five", [endAsked, ...gone(5)], { _tag: "Closing" })
  check("and whose reply never comes, then it is in doubt in the end", [endAsked, ...gone(6)], {
    _tag: "Ended",
    cause: "written_off",
    inferred: "unseen"
  })
  check("in doubt, then it may still appear", [endAsked, doubted, ...gone(2)], { _tag: "Ended", cause: "written_off", inferred: "unseen" })
  check("in doubt from the beginning, then it may still appear", [doubted, endAsked, ...gone(2)], { _tag: "Ended", inferred: "unseen" })
  check("in doubt, and proven not to have been placed, then it is void", [doubted, endAsked, looked("never_placed", 20_000)], {
    _tag: "Void",
    reason: "unreachable"
  })
  check("once it had been placed, then it is over", [endAsked, Accepted.make({}), ...gone(2)], {
    _tag: "Ended",
    cause: "originator_cancel",
    inferred: "gone"
  })
  check("and in doubt although it had been placed, then it is over", [endAsked, rang, doubted, ...gone(2)], {
    _tag: "Ended",
    cause: "originator_cancel"
  })
})

t.test("given an end before any answer", async (t) => {
  const stories: ReadonlyArray<readonly [string, ReadonlyArray<CallEvent>]> = [
    ["at once", []],
    ["in doubt", [doubted]],
    ["ringing", [rang]],
    ["closing", [rang, looked("ringing", GIVE_UP)]]
  ]
  const hiding = HangupCause.literals.filter(mayHideAnswer)
  const end = (cause: HangupCause) => HungUp.make({ at: 100_000, cause })
  t.test("for a cause that no answered call has, then it is over at once", async (t) => {
    for (const cause of HangupCause.literals.filter((cause) => !mayHideAnswer(cause)))
      for (const [name, story] of stories)
        t.match(follow(fresh, [...story, end(cause)]), { state: { _tag: "Ended" }, commands: [] }, `${name} ${cause}`)
    for (const cause of ["user_busy", "no_answer", "no_user_response", "ring_timeout", "call_rejected", "congestion"] as const)
      t.notOk(mayHideAnswer(cause), cause)
  })
  t.test("for a cause that an answered call has too, then it is looked up and held", async (t) => {
    const ofAnswered = ["agent_hangup", "duration_exceeded", "machine_detected", "media_failure", "internal_error"]
    t.strictSame(hiding, ["normal_clearing", "normal_unspecified", "no_credit", ...ofAnswered, "unknown"])
    for (const cause of hiding)
      for (const [name, story] of stories) {
        const step = follow(fresh, [...story, end(cause)])
        t.match(step.state, { _tag: "Held", endedAt: 100_000 }, `${name} ${cause}`)
        t.strictSame(commandsOf(step), looks, `${name} ${cause}`)
      }
  })
  const held = (...events: ReadonlyArray<CallEvent>) => follow(fresh, [rang, end("normal_clearing"), ...events])
  const isOutcome = (t: Test, name: string, { state }: Step, outcome: string) => {
    t.equal(state._tag, "Ended", name)
    if (state._tag === "Ended")
      t.equal(outcomeOf({ answered: state.answeredAt !== undefined, cause: state.cause, machine: false }), outcome, name)
  }
  t.test("when the answer comes, then it was answered, for as long as the provider says", async (t) => {
    const talked = (told: { readonly answer?: number; readonly end?: number }) =>
      follow(fresh, [
        rang,
        HungUp.make({ at: 100_000, cause: "normal_clearing", ...(told.end === undefined ? {} : { toldAt: told.end }) }),
        Answered.make({ at: 101_000, ...(told.answer === undefined ? {} : { toldAt: told.answer }) })
      ])
    isOutcome(t, "answered", talked({}), "answered")
    t.match(talked({}).state, { answeredAt: 100_000, endedAt: 100_000 }, "nobody knows how long")
    t.match(talked({ answer: 7_000_000, end: 7_030_000 }).state, { answeredAt: 70_000, endedAt: 100_000 }, "thirty seconds")
    t.match(talked({ answer: 7_030_000, end: 7_000_000 }).state, { answeredAt: 100_000 }, "a clock that runs backwards")
    t.match(talked({ answer: 0, end: 7_000_000 }).state, { answeredAt: 0 }, "no longer than since it was dialed")
  })
  t.test("when nothing more comes, then it is over when it had been looked up", async (t) => {
    isOutcome(t, "not there", held(looked("gone", 100_100), passed(105_000)), "no_answer")
    isOutcome(t, "the look takes longer", held(passed(105_000), looked("gone", 107_000)), "no_answer")
    t.match(held(looked("gone", 100_100)).state, { _tag: "Held" }, "not before its time")
    t.strictSame(commandsOf(held(passed(105_000))), looks, "unanswered look")
    t.match(held(passed(105_000), passed(115_000)).state, { _tag: "Ended", endedAt: 100_000 }, "after fifteen seconds at the latest")
    t.match(held(looked("silent", 110_000), passed(105_000), passed(115_000)).state, { _tag: "Ended" }, "whatever the look says")
  })
  t.test("when it is for lack of credit, then nobody was called, unless an answer comes", async (t) => {
    const unpaid = (...events: ReadonlyArray<CallEvent>) => follow(fresh, [end("no_credit"), looked("gone", 100_100), ...events]).state
    t.match(unpaid(passed(105_000)), { _tag: "Void", reason: "no_credit" })
    t.match(unpaid(Answered.make({ at: 101_000 })), { _tag: "Ended", answeredAt: 100_000, cause: "no_credit" })
    const closed = follow(fresh, [Accepted.make({}), endAsked, end("no_credit"), looked("gone", 100_100), passed(105_000)]).state
    t.match(closed, { _tag: "Void", reason: "no_credit" }, "while we end it")
  })
  t.test("when a look still finds the call, then it is hung up, and the end is believed once it is not found", async (t) => {
    const up = held(looked("up", 100_100))
    t.match(up, { state: { _tag: "Held", answeredAt: 100_000, found: "alive" }, commands: [{ _tag: "Hangup" }] }, "answered")
    t.match(held(looked("ringing", 100_100)), { state: { _tag: "Held", found: "alive" }, commands: [{ _tag: "Hangup" }] }, "ringing")
    isOutcome(t, "it had been answered", held(looked("up", 100_100), passed(105_000), looked("gone", 105_100)), "answered")
    isOutcome(t, "it had not", held(looked("ringing", 100_100), passed(105_000), looked("gone", 105_100)), "no_answer")
    const still = held(
      looked("up", 100_100),
      passed(105_000),
      looked("up", 105_100),
      passed(110_000),
      looked("up", 110_100),
      passed(115_000)
    )
    t.match(still.state, { _tag: "Closing", answeredAt: 100_000, cause: "normal_clearing" }, "it has not ended after all")
    t.strictSame(commandsOf(still), hangsUp)
  })
  t.test("when a machine was detected, then its answer is still awaited", async (t) => {
    const machine = EndAsked.make({ at: 100_500, cause: "machine_detected" })
    t.match(held(machine).state, { _tag: "Held", cause: "machine_detected" })
    const told = held(machine, Answered.make({ at: 101_000 }))
    t.match(told.state, { _tag: "Ended", answeredAt: 100_000, cause: "machine_detected" })
    isOutcome(t, "answered by a machine", told, "voicemail")
    isOutcome(t, "never told", held(machine, looked("gone", 100_600), passed(105_000)), "voicemail")
  })
  t.test("when another report of it comes, then the one that says more counts", async (t) => {
    isOutcome(t, "busy", held(end("user_busy")), "busy")
    for (const event of [
      Accepted.make({}),
      refused,
      doubted,
      rang,
      endAsked,
      end("normal_clearing"),
      MediaLost.make({ at: 1, failed: true })
    ])
      t.match(held(event), { state: { _tag: "Held" }, commands: [] }, event._tag)
  })
  t.test("that we had asked for, then our reason stands", async (t) => {
    const closing = [rang, looked("ringing", GIVE_UP), end("normal_clearing")]
    t.match(follow(fresh, [...closing, looked("gone", 100_100), passed(105_000)]).state, { _tag: "Ended", cause: "ring_timeout" })
    isOutcome(t, "picked up at the last moment", follow(fresh, [...closing, answered]), "answered")
  })
})

t.test("given a conversation whose audio ends", async (t) => {
  const lost = MediaLost.make({ at: 20_000, failed: false })
  const check = checkFrom(t, follow(fresh, [answered]))
  const failed = MediaLost.make({ at: 20_000, failed: true })
  check("then it waits for the provider's report", [lost], { _tag: "Muted", mutedAt: 20_000 }, waits)
  check("that never came about, then it is looked up at once", [failed], { _tag: "Muted" }, looks)
  check("and whose end is reported, then it has ended as reported", [lost, hungUp], {
    _tag: "Ended",
    cause: "normal_clearing",
    answeredAt: 5000
  })
  const late = HungUp.make({ at: 27_500, cause: "normal_clearing" })
  check("and whose end is reported late, then it ended with its audio", [lost, late], { _tag: "Ended", answeredAt: 5000, endedAt: 20_000 })
  check("that broke, then it ended when that was reported", [failed, late], { _tag: "Ended", answeredAt: 5000, endedAt: 27_500 })
  const checked = EndChecked.make({ at: 20_500 })
  check("and that is gone, as was claimed, then its slot does not wait for the record", [lost, checked], {
    _tag: "Ended",
    cause: "normal_clearing",
    endedAt: 20_000,
    inferred: "gone"
  })
  check("that broke, then a claim proves nothing", [failed, checked], { _tag: "Muted" })
  check("and has not ended, then neither", [checked], { _tag: "Up" })
  check("after we have hung up, then a checked claim is enough", [endAsked, checked], { _tag: "Ended", cause: "originator_cancel" })
  check("and of whose end nothing is heard, then it is looked up", [lost, passed(22_000)], { _tag: "Muted" }, looks)
  check("and that is still up, then it is hung up", [lost, looked("up", 30_000)], { _tag: "Closing", cause: "media_failure" }, hangsUp)
  check("and that no longer exists, then its end is awaited a little longer", [lost, looked("gone", 30_000)], { _tag: "Muted" }, waits)
  check("and is never reported, then it was an ordinary end", [lost, looked("gone", 30_000), passed(32_000), looked("gone", 32_000)], {
    _tag: "Ended",
    cause: "normal_clearing",
    endedAt: 20_000,
    inferred: "gone"
  })
  check(
    "while its provider's events are not heard, then it waits for them",
    [lost, looked("gone", 30_000, true), looked("gone", 40_000, true), looked("gone", 50_000, true)],
    { _tag: "Muted" },
    waits
  )
  check("and that we end, then it is ended", [lost, endAsked], { _tag: "Closing", cause: "originator_cancel" }, hangsUp)
  const back = MediaBack.make({ at: 25_000 })
  check("and comes back, then the call continues, with its limit unchanged", [lost, back], { _tag: "Up", answeredAt: 5000 }, waits)
  check("after it failed, and comes back, then the look says nothing new", [failed, back, looked("up", 25_100)], { _tag: "Up" })
  check("and comes back when the call is over, then it is over", [lost, hungUp, back], { _tag: "Ended" })
  check("and comes back while it is being hung up, then it is hung up", [lost, looked("up", 30_000), back], { _tag: "Closing" })
  check("and that a look begun before still found, then it waits", [lost, looked("up", 20_100)], { _tag: "Muted" }, waits)
  check("twice, then once", [lost, MediaLost.make({ at: 25_000, failed: false })], { _tag: "Muted", mutedAt: 20_000 })
})

t.test("given an inferred end, when the provider reports it before it is recorded, then the report counts", async (t) => {
  const gone = [looked("gone", 30_000), looked("gone", 32_000)]
  const check = stateFrom(t, fresh)
  const muted = [answered, MediaLost.make({ at: 20_000, failed: false }), ...gone]
  const lineLost = HungUp.make({ at: 33_000, cause: "network_out_of_order" })
  check("after lost audio", [...muted, lineLost], { _tag: "Ended", cause: "network_out_of_order", answeredAt: 5000, endedAt: 20_000 })
  check("our own reason stands", [answered, endAsked, looked("gone", 30_000), hungUp], { _tag: "Ended", cause: "originator_cancel" })
  const writtenOff = [doubted, looked("gone", 20_000), looked("gone", 30_000), looked("gone", GIVE_UP)]
  check("a call that was written off", [...writtenOff, HungUp.make({ at: GIVE_UP, cause: "user_busy" })], { cause: "user_busy" })
  check("unless it leaves open whether somebody answered", [...writtenOff, hungUp], { cause: "written_off", inferred: "unseen" })
})

t.test("given a provider that reports who answered, when the call ends before that", async (t) => {
  const detecting = { ...limits, detects: true }
  const check = stateFrom(t, follow(fresh, [answered], detecting), detecting)
  const machine = EndAsked.make({ at: 10_000, cause: "machine_detected" })
  const judged = Judged.make({})
  check("then the end is held for it", [hungUp], { _tag: "Held", answeredAt: 5000, cause: "normal_clearing" })
  check("and it is a machine, then that is why", [hungUp, machine, judged], { _tag: "Ended", answeredAt: 5000, cause: "machine_detected" })
  check("and it is a person, then it is over", [hungUp, judged], {
    _tag: "Ended",
    answeredAt: 5000,
    cause: "normal_clearing",
    endedAt: 9000
  })
  check("and it never is, then it is over in time", [hungUp, looked("gone", 9100), passed(14_000)], { _tag: "Ended", answeredAt: 5000 })
  check("or has been told, then it is over at once", [judged, hungUp], { _tag: "Ended", answeredAt: 5000, cause: "normal_clearing" })
  check("and we end it, then that is held too", [endAsked, hungUp], { _tag: "Held", answeredAt: 5000, cause: "originator_cancel" })
  check("and because of a machine, then it is over at once", [machine, hungUp], { _tag: "Ended", cause: "machine_detected" })
  const early = follow(fresh, [rang, HungUp.make({ at: 9000, cause: "normal_clearing" }), answered], detecting)
  t.match(early.state, { _tag: "Held", answeredAt: 9000 }, "and before its answer is told, then it is held for both")
})

t.test("given timestamps of the provider, when the answer or the end was late, then they decide how long the callee talked", async (t) => {
  const talk = (answer: readonly [number, number], end: readonly [number, number], between: ReadonlyArray<CallEvent> = []) => {
    const events = [
      rang,
      Answered.make({ at: answer[0], toldAt: answer[1] }),
      ...between,
      HungUp.make({ at: end[0], cause: "normal_clearing", toldAt: end[1] })
    ]
    const { state } = follow(fresh, events)
    return state._tag === "Ended" && state.answeredAt !== undefined ? [state.endedAt, state.endedAt - state.answeredAt] : undefined
  }
  t.strictSame(talk([5000, 1_004_000], [9400, 1_009_000]), [9400, 4400], "in time, then by what we heard")
  t.strictSame(talk([9000, 1_004_000], [9400, 1_009_000]), [9400, 5000], "the answer")
  t.strictSame(talk([9400, 1_000_000], [9400, 1_030_000]), [9400, 9400], "but not for longer than since it was dialed")
  t.strictSame(talk([5000, 1_005_000], [14_000, 1_009_500]), [9500, 4500], "the end")
  const audio = [MediaLost.make({ at: 9100, failed: false })]
  t.strictSame(talk([5000, 1_005_000], [14_000, 1_009_500], audio), [9100, 4100], "the end of a call whose audio had ended")
  t.strictSame(talk([5000, 1_005_000], [14_000, 1_012_500], audio), [12_500, 7500], "or that went on without audio")
  const closing = [EndAsked.make({ at: 9100, cause: "agent_hangup" })]
  t.strictSame(talk([9000, 1_004_000], [9400, 1_009_000], closing), [9400, 5000], "the answer to a call that we end")
  const silence = [MediaLost.make({ at: 9100, failed: false }), MediaBack.make({ at: 9200 })]
  t.strictSame(talk([9000, 1_004_000], [9400, 1_009_000], silence), [9400, 5000], "the answer to a call whose audio was gone for a moment")
  const shown = [rang, Answered.make({ at: 5000 }), Answered.make({ at: 9000, toldAt: 1_004_000 })]
  const { state } = follow(fresh, [...shown, HungUp.make({ at: 16_000, cause: "normal_clearing", toldAt: 1_009_500 })])
  t.match(state, { _tag: "Ended", answeredAt: 5000, endedAt: 10_500 }, "also if the audio had shown the answer before it was told")
})

t.test("given a call whose record says that it has ended, but not how, then the report is awaited", async (t) => {
  const ended = [Accepted.make({}), looked("ended", 20_000)]
  const check = stateFrom(t, follow(fresh, [...ended]))
  check("it is held", [], { _tag: "Held" })
  t.strictSame(commandsOf(follow(fresh, ended)), waits)
  check("busy", [HungUp.make({ at: 40_000, cause: "user_busy" })], { _tag: "Ended", cause: "user_busy" })
  check("answered", [Answered.make({ at: 40_000 })], { _tag: "Ended", answeredAt: 20_000, cause: "normal_clearing" })
  check("ended as answered calls do", [HungUp.make({ at: 40_000, cause: "normal_clearing" })], { _tag: "Held", cause: "normal_clearing" })
  check("nothing more", [passed(80_000)], { _tag: "Ended", cause: "written_off" })
  const found = follow(fresh, [Answered.make({ at: 20_000 }), looked("ended", 20_000)])
  t.match(found.state, { _tag: "Muted", answeredAt: 20_000 }, "a record that tells of the answer")
})
