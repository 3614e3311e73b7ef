/** Callees who are transferred: the machine's table, and that neither order nor repeats of the reports change anything. */
import fc from "fast-check"
import t, { type Test } from "tap"
import { CallEvent, type CallState, isOver, type Step } from "#core/call/Call.ts"
import { transition } from "#core/call/CallMachine.ts"
import { recoverHanded, recoverMuted } from "#core/call/recoveredCall.ts"
import { answered, endAsked, follow, fresh, hungUp, limits, looked, passed } from "#test/support/callStory.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { checkFrom, hangsUp, looks, waits } from "./callChecks.ts"

const { HungUp, MediaBack, MediaLost, TransferAsked, Transferred } = CallEvent.cases

const destination = { kind: "attended", timeoutSeconds: 30, to: "+15550100" } as const
const asked = TransferAsked.make({ at: 10_000, destination })
const lost = MediaLost.make({ at: 11_000, failed: false })
const joined = Transferred.make({ answered: true, at: 20_000, transfer: 1 })
const declined = Transferred.make({ answered: false, at: 20_000, transfer: 1 })
const back = MediaBack.make({ at: 21_000 })
/** The ring timeout and a minute of grace. */
const UNTIL = 100_000

const checkIn = (t: Test) => checkFrom(t, follow(fresh, [answered]))

t.test("given a callee who is transferred, then the call follows the diagram", async (t) => {
  const check = checkIn(t)
  check("begun", [asked], { _tag: "Transferring", transfers: 1, isMuted: false, until: UNTIL }, ["SetDeadline", "Transfer"])
  check("asked for twice", [asked, asked], { _tag: "Transferring", transfers: 1 })
  check("the audio ends", [asked, lost], { _tag: "Transferring", isMuted: true }, waits)
  check("answered", [asked, lost, joined], { _tag: "Transferred", answeredAt: 5000 }, waits)
  check("answered twice", [asked, lost, joined, joined], { _tag: "Transferred" })
  check("answered, then declined late", [asked, lost, joined, declined], { _tag: "Transferred" })
  check("answered, and the audio ends late", [asked, joined, lost], { _tag: "Transferred" })
  check("answered, over", [asked, lost, joined, HungUp.make({ at: 60_000, cause: "normal_clearing" })], {
    _tag: "Ended",
    answeredAt: 5000,
    cause: "normal_clearing",
    endedAt: 60_000
  })
  check("not answered, audio never lost", [asked, declined], { _tag: "Up", transfers: 1 }, waits)
  check("not answered, audio to come", [asked, lost, declined], { _tag: "Muted", graceUntil: 30_000 }, waits)
  check("not answered, audio back", [asked, lost, declined, back], { _tag: "Up" }, waits)
  check("audio back before that is told", [asked, lost, back, declined], { _tag: "Up" }, waits)
  check("not answered, and the audio ends late", [asked, declined, lost, back], { _tag: "Up" }, waits)
  check("not answered, and answered after all", [asked, lost, declined, joined], { _tag: "Transferred" }, waits)
  check("a second one", [asked, declined, asked], { _tag: "Transferring", transfers: 2 }, ["SetDeadline", "Transfer"])
  check("a second one, of which nothing is told", [asked, declined, asked, declined, joined], { _tag: "Transferring", transfers: 2 })
  check("we end it while it rings", [asked, lost, endAsked], { _tag: "Closing", answeredAt: 5000 }, hangsUp)
  check("the callee hangs up while it rings", [asked, lost, hungUp], { _tag: "Ended", answeredAt: 5000, cause: "normal_clearing" })
  check("a callee without audio is not handed over", [lost, asked], { _tag: "Muted" })
})

t.test("given a transfer of which nothing is reported, then the audio decides", async (t) => {
  const check = checkIn(t)
  check("and it never ended: the callee is with the agent", [asked, passed(UNTIL)], { _tag: "Up" }, waits)
  check("and it ended: two of them talk", [asked, lost, passed(UNTIL)], { _tag: "Transferred", isAssumed: true }, waits)
  check("and it came back: soon", [asked, lost, back, passed(26_000)], { _tag: "Up" }, waits)
  check("and it ended again", [asked, lost, back, lost, passed(26_000)], { _tag: "Transferring", isMuted: true }, waits)
  check("and it comes back late", [asked, lost, passed(UNTIL), back], { _tag: "Up" }, waits)
  check("and it is told late that nobody answered", [asked, lost, passed(UNTIL), declined], { _tag: "Muted" }, waits)
})

t.test("given two who talk, then the engine looks, and never hangs up on them", async (t) => {
  const check = checkIn(t)
  const talking = [asked, lost, joined]
  check("a look", [...talking, passed(80_000)], { _tag: "Transferred" }, looks)
  check("found up", [...talking, looked("up", 80_000)], { _tag: "Transferred", missed: 0 })
  check("not found once", [...talking, looked("gone", 80_000)], { _tag: "Transferred", missed: 1 }, waits)
  check("not found twice", [...talking, looked("ended", 80_000), looked("gone", 82_000)], {
    _tag: "Ended",
    answeredAt: 5000,
    cause: "normal_clearing",
    inferred: "gone"
  })
  check("not found, while its events do not reach us", [...talking, looked("gone", 80_000, true)], { _tag: "Transferred", missed: 0 })
  check("for too long", [...talking, passed(305_000)], { _tag: "Closing", cause: "duration_exceeded" }, hangsUp)
  t.match(follow(recoverMuted(5000, 11_000), [joined, looked("up", 30_000)]).state, { _tag: "Transferred" }, "after a restart")
})

t.test("given a process that dies after a transfer, then two people are assumed to talk, and nothing has failed", async (t) => {
  const check = checkFrom(t, recoverHanded(5000, 1))
  check("it is looked for soon", [], { _tag: "Transferred", answeredAt: 5000, isAssumed: true }, waits)
  check("it is up", [passed(12_000), looked("up", 12_500)], { _tag: "Transferred", isAssumed: true })
  check("the destination answers", [looked("up", 12_500), joined], { _tag: "Transferred", transfers: 1 }, waits)
  check("and hangs up", [looked("up", 12_500), joined, hungUp], { _tag: "Ended", answeredAt: 5000, cause: "normal_clearing" })
  check("the destination does not answer", [looked("up", 12_500), declined], { _tag: "Closing", cause: "node_lost" }, hangsUp)
  check("the callee had hung up", [looked("ended", 12_000), looked("gone", 14_000)], {
    _tag: "Ended",
    answeredAt: 5000,
    cause: "normal_clearing",
    inferred: "gone"
  })
})

/** What happens to a callee who is transferred, in order. */
const stories: ReadonlyArray<readonly [name: string, told: ReadonlyArray<(at: number) => CallEvent>, end: CallState["_tag"]]> = [
  [
    "answers",
    [(at) => MediaLost.make({ at, failed: false }), (at) => Transferred.make({ answered: true, at, transfer: 1 })],
    "Transferred"
  ],
  ["answers, with audio that goes on", [(at) => Transferred.make({ answered: true, at, transfer: 1 })], "Transferred"],
  ["does not answer, with audio that goes on", [(at) => Transferred.make({ answered: false, at, transfer: 1 })], "Up"]
]

t.test("given a provider's reports of a transfer, in any order and repeated, then the call ends as in order, and never fails", async () => {
  const chosen = fc.constantFrom(...stories)
  const order = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 3000 })), { maxLength: 8 })
  forAllOf({ numRuns: 5000 }, chosen, order, ([, told, end], more) => {
    // Each report comes at least once; repeats and the order are drawn.
    const all = more.reduce<ReadonlyArray<(at: number) => CallEvent>>((list, [which]) => {
      const one = told[which % told.length]
      const place = which % (list.length + 1)
      return one === undefined ? list : [...list.slice(0, place), one, ...list.slice(place)]
    }, told)
    let step: Step = follow(fresh, [answered, asked])
    let at = 10_000
    for (const [index, event] of all.entries()) {
      at += more[index]?.[1] ?? 100
      step = transition(step.state, event(at), limits)
      if (isOver(step.state) || step.state._tag === "Closing" || step.state._tag === "Muted") return false
    }
    return step.state._tag === end
  })
})
