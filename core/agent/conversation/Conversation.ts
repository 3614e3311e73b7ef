/**
 * A conversation between an agent and a callee, as one pure function: events go in, actions come out. It walks the agent's graph:
 *
 *     new --Started--> (delayed) --> live --> ending --> concluding --> over
 *                                      \--> message --/
 *
 * Whatever runs outside (models, tools, speech, timers) has a number, which is forgotten when the conversation moves on: an event with a number
 * that is not awaited changes nothing. Nothing is done outside before a turn is certain. To work ahead, step a copy of the state with the turn
 * as it is understood so far: if the final turn has the same text, it makes the same request, and dropping the copy undoes everything.
 */
import { answerDue, answerFailed, answerSaid } from "./Answers.ts"
import { calleeIdle, calleeStarted, calleeTurn, calleeWaits, keyPressed, keysDone } from "./Callee.ts"
import {
  act,
  type ConversationEvent,
  type ConversationPlan,
  type ConversationState,
  put,
  type Scene,
  type Step,
  type TimerName
} from "./ConversationState.ts"
import { conclude, concluded, endFor, endNow } from "./Ending.ts"
import { extractionFailed, extractionSaid } from "./Extractions.ts"
import { lineFailed, lineInterrupted, lineSpoken } from "./Lines.ts"
import { machineHeard, messageMoment, screeningOver } from "./Machines.ts"
import { begin } from "./Nodes.ts"
import { harmless } from "./Rendering.ts"
import { fill } from "./Speech.ts"
import { armed, betweenKeysMillis, timerOf } from "./Timers.ts"
import { toolAnswered, toolsTimedOut } from "./ToolCalls.ts"

/** `now` is in epoch milliseconds; prompts show it. Durations are left to the timers. */
export const step = (plan: ConversationPlan, state: ConversationState, event: ConversationEvent, now: number): Step => {
  if (state.phase === "over" || (state.phase === "new" && !mayComeFirst(event))) return { state, actions: [] }
  const scene = { plan, now }
  return armed(concluded(happened({ state, actions: [] }, scene, event), scene), scene)
}

const mayComeFirst = ({ _tag }: ConversationEvent): boolean =>
  _tag === "Started" || _tag === "MachineHeard" || _tag === "CalleeHungUp" || _tag === "EndRequested"

const happened = (step: Step, scene: Scene, event: ConversationEvent): Step => {
  switch (event._tag) {
    case "Started":
      return started(step, scene, event.context)
    case "CalleeStarted":
      return calleeStarted(step)
    case "CalleeTurn":
      return calleeTurn(put(step, { waitedMillis: event.waitedMillis ?? 0 }), scene, event.text)
    case "CalleeWaits":
      return calleeWaits(step, scene)
    case "KeyPressed":
      return keyPressed(step, scene, event.digit)
    case "ModelSaid":
    case "ModelFailed":
      return modelAnswered(step, scene, event)
    case "ToolAnswered":
      return toolAnswered(step, scene, event.callId, event.answer)
    case "LineSpoken":
      return lineSpoken(step, scene, event.line)
    case "LineInterrupted":
      return lineInterrupted(step, scene, event.line, event.heard)
    case "LineFailed":
      return lineFailed(step, scene, event.line)
    case "TimerFired":
      return timerFired(step, scene, event.id)
    case "MachineHeard":
      return machineHeard(step, scene, event.verdict)
    case "MessageMoment":
      return messageMoment(step, scene, event.canSpeak)
    case "EndRequested":
      return endNow(step, scene, endFor(event.reason))
    case "CalleeHungUp":
      return hungUp(step, scene)
    case "CalleeTransferred":
      return endNow(step, scene, endFor("transfer_call"), false)
  }
}

const started = (step: Step, scene: Scene, context: ConversationState["context"]): Step => {
  if (step.state.phase !== "new") return step
  const notes = (scene.plan.unreadableTools ?? []).map((name) => ({ _tag: "ToolUnreadable", name }) as const)
  const noted = act(step, ...notes.map((note) => ({ _tag: "Note", note }) as const))
  const known = put(noted, { context: harmless(context), phase: "delayed" })
  // Heard while the context was being fetched.
  if (known.state.verdict === "machine") return machineHeard(known, scene, "machine")
  return scene.plan.graph.start.delayMillis > 0 ? known : begin(known, scene)
}

/** If a screening service hangs up, it has not put the call through. */
const hungUp = (step: Step, scene: Scene): Step => {
  return endNow(
    step,
    scene,
    step.state.screening === "waiting" ? endFor("voicemail_detected", { tags: ["screened"] }) : endFor("user_hangup"),
    false
  )
}

const troubleOf = ({ why }: Extract<ConversationEvent, { readonly _tag: "ModelFailed" }>) =>
  ({ trouble: "failed", ...(why === undefined ? {} : { why }) }) as const

const modelAnswered = (
  step: Step,
  scene: Scene,
  event: Extract<ConversationEvent, { readonly _tag: "ModelSaid" | "ModelFailed" }>
): Step => {
  const { answer, extractions } = step.state
  const { generation } = event
  if (answer?.generation === generation) {
    return event._tag === "ModelSaid"
      ? answerSaid(step, scene, answer, event.part)
      : answerFailed(step, scene, answer, troubleOf(event), event.isRetryable)
  }
  const running = extractions.find((one) => one.generation === generation)
  if (running === undefined) return step
  return event._tag === "ModelSaid"
    ? extractionSaid(step, scene, running, event.part)
    : extractionFailed(step, scene, running, event.isRetryable)
}

const timerFired = (step: Step, scene: Scene, id: number): Step => {
  const name = timerOf(step.state, id)
  if (name === undefined) return step
  // Removed, so that it is set again if it is still needed.
  const { [name]: _, ...timers } = step.state.timers
  return due(put(step, { timers }), scene, name)
}

const due = (step: Step, scene: Scene, timer: TimerName): Step => {
  const { answer, lines } = step.state
  switch (timer) {
    case "answer":
      return answer === undefined ? step : answerDue(step, scene, answer)
    case "conclude":
      return conclude(step, scene)
    case "delay":
      return begin(step, scene)
    case "duration":
      return endNow(step, scene, endFor("call_duration_exceeded"))
    case "filler":
      return fill(step, scene)
    case "idle":
      return calleeIdle(step, scene)
    case "keys":
      return keysDone(put(step, { waitedMillis: betweenKeysMillis }), scene)
    case "message":
      return messageMoment(step, scene, false)
    case "screening":
      return screeningOver(step, scene)
    case "speech":
      // The line was never reported.
      return lines[0] === undefined ? step : lineSpoken(step, scene, lines[0].id)
    case "tools":
      return toolsTimedOut(step, scene)
    case "turn":
      return calleeTurn(step, scene, "")
  }
}
