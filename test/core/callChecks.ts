/** What must have come of a call after some events. */
import type { Test } from "tap"
import type { CallEvent, CallState, Step } from "#core/call/Call.ts"
import { commandsOf, follow, limits } from "#test/support/callStory.ts"

/** Commands that go together: to wait, to look the call up, and to hang up. */
export const [waits, looks, hangsUp] = [["SetDeadline"], ["SetDeadline", "Look"], ["SetDeadline", "Hangup"]]

/** Checks the state after events that follow `first`, and the commands of the last one. */
export const checkFrom =
  (t: Test, first: Step, within = limits) =>
  (name: string, events: ReadonlyArray<CallEvent>, state: Partial<CallState>, commands: ReadonlyArray<string> = []) => {
    const step = follow(first, events, within)
    t.match(step.state, state, name)
    t.strictSame(commandsOf(step), commands, name)
  }

/** Like `checkFrom`, of the state alone. */
export const stateFrom =
  (t: Test, first: Step, within = limits) =>
  (name: string, events: ReadonlyArray<CallEvent>, state: Partial<CallState>) =>
    t.match(follow(first, events, within).state, state, name)
