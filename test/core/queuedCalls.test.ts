/** Calls that may wait in their provider's queue, and must ring only while their campaign may dial. */
import t, { type Test } from "tap"
import { CallEvent, type CallState } from "#core/call/Call.ts"
import { dial } from "#core/call/CallMachine.ts"
import { recoverElsewhere, recoverSent } from "#core/call/recoveredCall.ts"
import { answered, commandsOf, doubted, endAsked, follow, GIVE_UP, limits, looked, passed, rang } from "#test/support/callStory.ts"
import { hangsUp, looks, waits } from "./callChecks.ts"

const { Accepted, DialingWithdrawn, HungUp, Placed, Queued } = CallEvent.cases
const queueing = { ...limits, queues: true }
const accepted = Accepted.make({})
const queued = Queued.make({})
const placed = Placed.make({})
const withdrawn = DialingWithdrawn.make({})
const canceled = HungUp.make({ at: 9000, cause: "originator_cancel" })
const isVoid = { _tag: "Void", reason: "permit_lapsed" } as const

const from = (t: Test, first = dial(queueing, 0)) => {
  const check = (name: string, events: ReadonlyArray<CallEvent>, state: Partial<CallState>, commands?: ReadonlyArray<string>) => {
    const step = follow(first, events, queueing)
    t.match(step.state, state, name)
    if (commands !== undefined) t.strictSame(commandsOf(step), commands, name)
  }
  return check
}

t.test("given a call in the queue, when its provider reports on it, in any order", async (t) => {
  const check = from(t)
  check("it waits", [accepted, queued], { _tag: "Dialing", queue: "waiting" }, [])
  check("it waits, which is told before the reply", [queued, accepted], { _tag: "Dialing", queue: "waiting" }, [])
  check("it has left the queue", [queued, placed], { _tag: "Dialing", queue: "left" }, [])
  check("it has left the queue, which is told first", [placed, queued], { _tag: "Dialing", queue: "left" }, [])
  check("it rings, and the queue is told of late", [rang, queued], { _tag: "Ringing" }, [])
  check("it rings, in a record that is behind", [rang, looked("queued", 1000)], { _tag: "Ringing" }, waits)
  check("it talks, and the queue is told of late", [answered, queued], { _tag: "Up" }, [])
  check("a look finds it waiting", [accepted, looked("queued", 1000)], { _tag: "Dialing", queue: "waiting" }, waits)
  check("it waits for longer than a phone rings", [passed(GIVE_UP), looked("queued", GIVE_UP)], { _tag: "Dialing", giveUpAt: 2 * GIVE_UP })
})

t.test("given a call that may be in the queue, when its campaign may no longer dial", async (t) => {
  const check = from(t)
  check("it waits", [queued, withdrawn], { _tag: "Closing", isUndialed: true }, hangsUp)
  check("its reply is awaited", [withdrawn], { _tag: "Dialing", isWithdrawn: true }, [])
  check("its reply comes", [withdrawn, accepted], { _tag: "Dialing" }, looks)
  check("its reply was lost", [doubted, withdrawn], { _tag: "Dialing" }, looks)
  check("it is found waiting", [accepted, withdrawn, looked("queued", 1000)], { _tag: "Closing" }, hangsUp)
  check("it is said to wait", [accepted, withdrawn, queued], { _tag: "Closing" }, hangsUp)
  check("it is found ringing, and goes on", [accepted, withdrawn, looked("ringing", 1000)], { _tag: "Ringing" }, waits)
  check("it has left the queue", [queued, placed, withdrawn], { _tag: "Dialing" }, [])
  check("it rings", [rang, withdrawn], { _tag: "Ringing" }, [])
  check("it talks", [answered, withdrawn], { _tag: "Up" }, [])
  check("it is not found yet", [accepted, withdrawn, looked("gone", 1000)], { _tag: "Dialing", isWithdrawn: true }, waits)
})

t.test("given a call that is taken out of the queue, then only proof makes it void", async (t) => {
  const check = from(t, follow(dial(queueing, 0), [queued, withdrawn], queueing))
  check("proven", [looked("never_placed", 8000)], isVoid)
  check("canceled, which alone proves nothing", [canceled], { _tag: "Held", isUndialed: true }, looks)
  check("canceled twice", [canceled, canceled], { _tag: "Held" }, [])
  check("canceled, and proven", [canceled, looked("never_placed", 9100)], isVoid)
  check("canceled, and its record tells no more", [canceled, looked("gone", 9100), passed(14_000)], {
    _tag: "Ended",
    cause: "originator_cancel"
  })
  check("canceled, and no answer to any look", [canceled, looked("silent", 19_000), looked("silent", 300_000)], { _tag: "Held" })
  check("canceled, its phone rang before", [rang, canceled], { _tag: "Ended", cause: "originator_cancel" })
  check("canceled, its phone rang before, which is told late", [canceled, rang, looked("never_placed", 9100)], { _tag: "Held" })
  check("canceled, and answered before", [canceled, answered, looked("never_placed", 9100)], { _tag: "Ended", answeredAt: 9000 })
  check("canceled, and busy after all", [canceled, HungUp.make({ at: 9100, cause: "user_busy" })], { _tag: "Ended", cause: "user_busy" })
  check("it still waits: hang up again", [looked("queued", 8000)], { _tag: "Closing", isUndialed: true }, hangsUp)
  check("its phone rings by now", [looked("ringing", 8000), looked("never_placed", 9000)], { _tag: "Closing" })
  check("it is answered by now", [answered, canceled], { _tag: "Ended", answeredAt: 5000 })
})

t.test("given a call of a former process, whose campaign may have been stopped since", async (t) => {
  for (const trace of ["none", "placed"] as const) {
    const check = from(t, recoverSent(queueing, 0, trace))
    check("it waits", [looked("queued", 1000)], { _tag: "Closing", isUndialed: true }, hangsUp)
    check("it was taken out before", [looked("never_placed", 1000)], isVoid)
    check("it was taken out before, as the provider had told", [canceled, looked("never_placed", 9100)], isVoid)
    check("it rings", [looked("ringing", 1000)], { _tag: "Ringing" })
  }
  from(t, recoverElsewhere(queueing, "placed", false))("of another name, and taken out", [canceled, looked("never_placed", 9100)], isVoid)
  const alone = follow(recoverSent(limits, 0, "placed"), [looked("queued", 1000)])
  t.match(alone.state, { _tag: "Ringing" }, "that belongs to no campaign: it is waited for")
})

t.test("given a call in the queue that we end for another reason, then proof makes it void as well", async (t) => {
  from(t)("the engine stops", [queued, endAsked, canceled, looked("never_placed", 9100)], isVoid)
  from(t)("that was canceled by somebody else", [accepted, canceled], { _tag: "Ended", cause: "originator_cancel" })
})
