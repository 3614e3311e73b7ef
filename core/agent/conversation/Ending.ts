/** How a conversation ends: at once or after a last line, for the first reason that comes up, and only once. */
import { act, type Conclusion, type ConversationState, type End, type EndReason, put, type Scene, type Step } from "./ConversationState.ts"
import { extract } from "./Extractions.ts"
import { dispositionOf, gatheredOf, tagsOf } from "./Gathered.ts"
import { withEntries } from "./History.ts"
import { stopSpeaking } from "./Speech.ts"

export const endFor = (reason: EndReason, more: { readonly disposition?: string; readonly tags?: ReadonlyArray<string> } = {}): End => ({
  reason,
  disposition: more.disposition,
  tags: more.tags ?? []
})

const isOver = ({ phase }: ConversationState): boolean => phase === "concluding" || phase === "over"

/** What has been said of it is left as it is: whoever drops it closes the line or stops speaking. */
export const dropAnswer = (step: Step): Step => {
  const { answer } = step.state
  return answer === undefined ? step : act(put(step, { answer: undefined }), { _tag: "DropModel", generation: answer.generation })
}

/** The calls that have no result yet get this one. Their answers, when they come, are ignored. */
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

/** Ends after what has been said so far. Nothing that happens from then on asks for another end but `endNow`. */
export const endAfterLines = (step: Step, scene: Scene, end: End): Step => {
  const settled = put(abandonCalls(dropAnswer(step), "The call ends."), { end })
  const last = settled.state.lines.at(-1)
  return last === undefined ? close(settled, scene, true) : put(settled, { phase: "ending", lastLine: last.id })
}

/** The end that was asked for first counts. */
export const endNow = (step: Step, scene: Scene, end: End, isLineOpen = true): Step => {
  if (isOver(step.state)) return step
  const settled = abandonCalls(dropAnswer(step), "The call ends.")
  return close(isLineOpen ? stopSpeaking(settled) : put(settled, { lines: [] }), scene, isLineOpen, end)
}

/** Nobody is left to tell anything to after these. */
const unheard: ReadonlyArray<EndReason> = ["pipeline_error", "voicemail_detected"]

const close = (step: Step, scene: Scene, isLineOpen: boolean, otherwise?: End): Step => {
  const end = step.state.end ?? otherwise
  const told = put(step, { phase: "concluding", end, lastLine: undefined })
  const asked = end !== undefined && unheard.includes(end.reason) ? told : extract(told, scene)
  const remembered = act(asked, { _tag: "Remember", gathered: gatheredOf(asked.state) })
  const hungUp = isLineOpen && end !== undefined ? act(remembered, { _tag: "HangUp", reason: end.reason }) : remembered
  return concluded(hungUp)
}

/** Over, once nothing is being extracted. */
export const concluded = (step: Step): Step =>
  step.state.phase === "concluding" && step.state.extractions.length === 0 ? conclude(step) : step

/** Over, whether or not something is still being extracted. */
export const conclude = (step: Step): Step => {
  const dropped = step.state.extractions.reduce((one, { generation }) => act(one, { _tag: "DropModel", generation }), step)
  const over = put(dropped, { phase: "over", extractions: [] })
  return act(over, { _tag: "Conclude", conclusion: conclusionOf(over.state) })
}

export const conclusionOf = (state: ConversationState): Conclusion => ({
  disposition: dispositionOf(state) ?? "unknown",
  tags: tagsOf(state),
  gathered: gatheredOf(state),
  isVoicemail: isVoicemail(state),
  messageFate: state.messageFate
})

const isVoicemail = ({ end, screening, verdict }: ConversationState): boolean =>
  end?.reason === "voicemail_detected" || verdict === "machine" || (verdict === "screening" && screening !== "passed")
