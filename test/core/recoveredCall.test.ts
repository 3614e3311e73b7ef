/** Calls whose process has died: in which state they resume, and how they end. */
import t from "tap"
import { CallEvent, type CallState, type Step } from "#core/call/Call.ts"
import { recoverAnswered, recoverElsewhere, recoverMuted, recoverSent } from "#core/call/recoveredCall.ts"
import { commandsOf, follow, GIVE_UP, hungUp, limits, looked } from "#test/support/callStory.ts"
import { hangsUp, looks } from "./callChecks.ts"

const { Answered, EndClaimed, HungUp } = CallEvent.cases

t.test("given a call of a process that died, then it is looked for, or ended when its audio is gone", async (t) => {
  t.match(recoverSent(limits, 1000, "none"), { state: { _tag: "Dialing", request: "doubtful", giveUpAt: 91_000 } })
  t.strictSame(commandsOf(recoverSent(limits, 1000, "none")), looks)
  t.match(recoverAnswered(1000, undefined), { state: { _tag: "Closing", request: "placed", answeredAt: 1000, cause: "node_lost" } })
  t.strictSame(commandsOf(recoverAnswered(1000, undefined)), hangsUp)
  const check = (name: string, first: Step, events: ReadonlyArray<CallEvent>, state: Partial<CallState>) =>
    t.match(follow(first, events).state, state, name)
  check("without a trace, it may still appear", recoverSent(limits, 0, "none"), [looked("gone", 1000)], { _tag: "Dialing" })
  check("until its time has passed", recoverSent(limits, 0, "none"), [looked("gone", GIVE_UP)], { _tag: "Ended", inferred: "unseen" })
  check("it had shown itself, and is gone", recoverSent(limits, 0, "placed"), [looked("gone", 1000)], { _tag: "Ended", inferred: "gone" })
  const late = [EndClaimed.make({}), looked("gone", 1000), looked("gone", 11_000)]
  check("its end was claimed, so its record may be late", recoverSent(limits, 0, "placed"), late, { _tag: "Ringing", missed: 2 })
  check("its end is known, and not how it came", recoverSent(limits, 0, "placed"), [looked("ended", 1000)], { _tag: "Held" })
  const told = (talkMillis: number) => [
    Answered.make({ at: 9000, toldAt: 500 }),
    HungUp.make({ at: 9000, cause: "user_busy", toldAt: 500 + talkMillis })
  ]
  const alive = recoverAnswered(1000, 4000)
  check("it had ended before its process", alive, told(3000), { _tag: "Ended", answeredAt: 1000, cause: "user_busy", endedAt: 4000 })
  check("it may have ended with its process", alive, told(3001), { _tag: "Ended", cause: "node_lost" })
  check("nobody knows when its process ended", recoverAnswered(1000, undefined), told(0), { _tag: "Ended", cause: "node_lost" })
  const silent = recoverMuted(1000, 4000)
  check("its audio had ended, and it has", silent, [looked("ended", 6000), looked("ended", 8000)], {
    _tag: "Ended",
    answeredAt: 1000,
    cause: "normal_clearing",
    endedAt: 4000
  })
  check("its audio had ended, and the report comes", silent, [hungUp], { _tag: "Ended", answeredAt: 1000, cause: "normal_clearing" })
  check("its audio had ended before its answer was heard of", recoverMuted(4000, 1000), [looked("ended", 6000), looked("ended", 8000)], {
    _tag: "Ended",
    answeredAt: 4000,
    endedAt: 4000
  })
  check("its audio had ended, and it goes on", silent, [looked("up", 6000)], { _tag: "Closing", answeredAt: 1000 })
  check("it still rings", recoverSent(limits, 0, "placed"), [looked("ringing", 1000), looked("gone", 2000)], { _tag: "Ringing" })
})

t.test("given an unanswered call of another node that died", async (t) => {
  const first = (trace: "none" | "placed") => recoverElsewhere(limits, trace, true)
  t.strictSame(commandsOf(first("none")), looks, "then it is looked up before it is hung up, if nobody hears of its end")
  t.strictSame(commandsOf(recoverElsewhere(limits, "none", false)), hangsUp, "and hung up at once if its end is reported to us")
  const check = (name: string, trace: "none" | "placed", events: ReadonlyArray<CallEvent>, state: Partial<CallState>) =>
    t.match(follow(first(trace), events).state, state, name)
  const rings = follow(first("none"), [looked("ringing", 10)])
  t.strictSame(commandsOf(rings), hangsUp, "it rings, so it is hung up")
  t.match(rings.state, { _tag: "Closing", request: "placed" }, "and was placed")
  const over = { _tag: "Ended", cause: "node_lost", inferred: "gone" } as const
  check("it rang, and is gone", "none", [looked("ringing", 10), looked("gone", 1010)], { ...over, endedAt: 1010 })
  check("it was answered, and is gone", "none", [looked("up", 10), looked("gone", 1010)], { ...over, answeredAt: 10 })
  check("it rang, and there is no answer to the next look", "none", [looked("ringing", 10), looked("silent", 1010)], { _tag: "Closing" })
  check("it had shown itself, and is gone", "placed", [looked("gone", 10)], over)
  check("it may still appear", "none", [looked("gone", 10)], { _tag: "Closing", missed: 1 })
  check("it never appeared", "none", [looked("gone", 10), looked("gone", 10_010)], {
    _tag: "Ended",
    cause: "written_off",
    inferred: "unseen"
  })
  check("it appears late", "none", [looked("gone", 10), looked("ringing", 10_010), looked("gone", 11_010)], over)
})
