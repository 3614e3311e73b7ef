/** How a conversation ends: at once or after a last line, for the first reason that comes up, and only once. */
import {
  act,
  type Conclusion,
  type ConversationPlan,
  type ConversationState,
  type End,
  type EndReason,
  put,
  type Scene,
  type Step
} from "./ConversationState.ts"
import { extract, extractionsDropped } from "./Extractions.ts"
import { dispositionOf, gatheredOf, tagsOf } from "./Gathered.ts"
import { withEntries } from "./History.ts"
import { stopSpeaking } from "./Speech.ts"

export const endFor = (reason: EndReason, more: { readonly disposition?: string; readonly tags?: ReadonlyArray<string> } = {}): End => ({
  reason,
  disposition: more.disposition,
  tags: more.tags ?? []
})

const isOver = ({ phase }: ConversationState): boolean => phase === "concluding" || phase === "over"

/** Leaves the part that was already said alone: the caller closes the line or stops speaking. */
export const dropAnswer = (step: Step): Step => {
  const { answer } = step.state
  return answer === undefined ? step : act(put(step, { answer: undefined }), { _tag: "DropModel", generation: answer.generation })
}

/** Calls without a result get this one. Their own results are ignored when they arrive. */
export const abandonCalls = (step: Step, why: string): Step => {
  const { batch, history, unanswered } = step.state
  if (batch === undefined) return step
  const results = batch.calls.map(({ call, isControl, result }) => ({
    _tag: "ToolResult" as const,
    callId: call.id,
    name: call.name,
    result: result ?? { status: "cancelled", error: why },
    isControl
  }))
  const noted = batch.calls.reduce(
    (one, { call, result }, index) =>
      result === undefined ? act(one, { _tag: "Note", note: { _tag: "ToolEnded", call, result: results[index]?.result ?? {} } }) : one,
    step
  )
  return put(noted, { batch: undefined, unanswered: [], history: withEntries(history, ...results, ...unanswered) })
}

/** Ends once the lines so far have been said. From then on, only `endNow` can end it differently. */
export const endAfterLines = (step: Step, scene: Scene, end: End): Step => {
  const settled = put(abandonCalls(dropAnswer(step), "The call ends."), { end })
  const last = settled.state.lines.at(-1)
  return last === undefined ? close(settled, scene, true) : put(settled, { phase: "ending", lastLine: last.id })
}

/** The first requested end counts. */
export const endNow = (step: Step, scene: Scene, end: End, isLineOpen = true): Step => {
  if (isOver(step.state)) return step
  const settled = abandonCalls(dropAnswer(step), "The call ends.")
  return close(isLineOpen ? stopSpeaking(settled) : put(settled, { lines: [] }), scene, isLineOpen, end)
}

/** After these, nobody is listening any more. */
const unheard: ReadonlyArray<EndReason> = ["pipeline_error", "voicemail_detected"]

const close = (step: Step, scene: Scene, isLineOpen: boolean, otherwise?: End): Step => {
  const end = step.state.end ?? otherwise
  const told = put(step, { phase: "concluding", end, lastLine: undefined })
  const asked = end !== undefined && unheard.includes(end.reason) ? told : extract(told, scene)
  const remembered = act(asked, { _tag: "Remember", gathered: gatheredOf(asked.state) })
  const hungUp = isLineOpen && end !== undefined ? act(remembered, { _tag: "HangUp", reason: end.reason }) : remembered
  return concluded(hungUp, scene)
}

/** Over, once nothing is being extracted. */
export const concluded = (step: Step, scene: Scene): Step =>
  step.state.phase === "concluding" && step.state.extractions.length === 0 ? conclude(step, scene) : step

/** Over, whether or not something is still being extracted. */
export const conclude = (step: Step, scene: Scene): Step => {
  const over = put(extractionsDropped(step, scene), { phase: "over", extractions: [] })
  return act(over, { _tag: "Conclude", conclusion: conclusionOf(over.state, scene.plan) })
}

export const conclusionOf = (state: ConversationState, plan: ConversationPlan): Conclusion => ({
  disposition: dispositionOf(state) ?? "unknown",
  tags: tagsOf(state),
  gathered: gatheredOf(state),
  isVoicemail: isVoicemail(state, plan),
  messageFate: state.messageFate
})

/** An agent that goes on with machines and cannot hear does not know whether a person has taken over. */
const isVoicemail = ({ end, screening, verdict }: ConversationState, { canHear, settings }: ConversationPlan): boolean =>
  end?.reason === "voicemail_detected" ||
  (verdict === "machine" && (canHear || settings.onMachine !== "continue")) ||
  (verdict === "screening" && screening !== "passed")
