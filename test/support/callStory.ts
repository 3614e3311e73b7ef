/** Stories of a call, told to its state machine event by event. */
import { CallEvent, type CallLimits, type Step } from "#core/call/Call.ts"
import { dial, transition } from "#core/call/CallMachine.ts"

const { Answered, DeadlinePassed, Doubted, EndAsked, HungUp, Looked, Rang, Refused } = CallEvent.cases

export const limits: CallLimits = { maxDurationSeconds: 300, ringTimeoutSeconds: 60 }
/** The ring timeout plus half a minute of grace. */
export const GIVE_UP = 90_000
export const fresh = dial(limits, 0)

export const follow = (first: Step, events: ReadonlyArray<CallEvent>, within: CallLimits = limits): Step =>
  events.reduce((step, event) => transition(step.state, event, within), first)
export const commandsOf = ({ commands }: Step) => commands.map((command) => command._tag)

export const doubted = Doubted.make({ at: 15_000 })
export const answered = Answered.make({ at: 5000 })
export const hungUp = HungUp.make({ at: 9000, cause: "normal_clearing" })
export const refused = Refused.make({ at: 100, reason: "rate_limited" })
export const endAsked = EndAsked.make({ at: 6000, cause: "originator_cancel" })
export const rang = Rang.make({})
export const looked = (presence: (typeof Looked.Type)["presence"], at: number, deaf = false) => Looked.make({ at, deaf, presence })
export const passed = (at: number) => DeadlinePassed.make({ at })
