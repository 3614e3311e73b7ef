/** Variables are extracted in the background when a node is left, while the conversation continues, and once more at its end. */
import type { JsonObject } from "#core/Json.ts"
import { jsonSize } from "#core/jsonSize.ts"
import type { ModelPart } from "#core/model/LanguageModel.ts"
import { callbackOf } from "./Callback.ts"
import { act, type ConversationState, nodeOf, put, type RunningExtraction, type Scene, type Step } from "./ConversationState.ts"
import { type Extracted, extractedFrom, saveVariables } from "./Extraction.ts"
import { gatheredOf } from "./Gathered.ts"
import { renderedPrompts, showsGathered } from "./Rendering.ts"
import { extractionRequestFor } from "./Requests.ts"

/** Extractions are quick. More than this at once means that the model does not answer them. */
const mostRunning = 8
const longestText = 16_384
const longestArguments = 131_072

const isHeardOut = ({ history }: ConversationState): boolean => history.some(({ _tag }) => _tag === "User")

/** Extracts the current node's variables, unless the callee has not said anything yet. */
export const extract = (step: Step, scene: Scene): Step => {
  const { state } = step
  const { extraction, id } = nodeOf(scene, state)
  if (extraction === undefined || !isHeardOut(state)) return step
  if (state.extractions.length >= mostRunning) return noteFailure(step, scene, id)
  return run(step, {
    generation: 0,
    request: extractionRequestFor(scene, state, extraction),
    extraction,
    nodeId: id,
    order: state.next,
    isRetry: false,
    call: undefined,
    text: ""
  })
}

const run = (step: Step, extraction: RunningExtraction): Step => {
  const { extractions, next } = step.state
  const started = { ...extraction, generation: next }
  return act(put(step, { next: next + 1, extractions: [...extractions, started] }), {
    _tag: "AskModel",
    generation: next,
    request: extraction.request
  })
}

const without = (step: Step, { generation }: RunningExtraction): Step =>
  put(step, { extractions: step.state.extractions.filter((one) => one.generation !== generation) })

export const extractionSaid = (step: Step, scene: Scene, running: RunningExtraction, part: ModelPart): Step => {
  const now = (changed: Partial<RunningExtraction>): Step =>
    put(step, { extractions: step.state.extractions.map((one) => (one.generation === running.generation ? { ...one, ...changed } : one)) })
  switch (part._tag) {
    case "Text":
      return now({ text: (running.text + part.text).slice(0, longestText) })
    case "ToolCall":
      return part.call.name === saveVariables && jsonSize(part.call.arguments, longestArguments) <= longestArguments
        ? now({ call: part.call.arguments })
        : step
    case "Finished": {
      const found = extractedFrom(running.extraction, running.call ?? running.text)
      return found === undefined ? extractionFailed(step, scene, running, true) : merged(without(step, running), scene, running, found)
    }
  }
}

export const extractionFailed = (step: Step, scene: Scene, running: RunningExtraction, isRetryable: boolean): Step => {
  const ended = without(step, running)
  if (isRetryable && !running.isRetry) return run(ended, { ...running, isRetry: true, call: undefined, text: "" })
  return noteFailure(ended, scene, running.nodeId)
}

/** Nobody waits for the extractions that are still running. */
export const extractionsDropped = (step: Step, scene: Scene): Step =>
  step.state.extractions.reduce(
    (one, { generation, nodeId }) => noteFailure(act(one, { _tag: "DropModel", generation }), scene, nodeId),
    step
  )

const noteFailure = (step: Step, { plan: { graph } }: Scene, nodeId: string): Step =>
  act(step, { _tag: "Note", note: { _tag: "ExtractionFailed", node: graph.nodes.get(nodeId) ?? graph.start } })

const merged = (step: Step, scene: Scene, { nodeId, order }: RunningExtraction, { refused, values }: Extracted): Step => {
  const { orders, variables } = step.state
  const newer = Object.entries(values).filter(([name]) => (Object.hasOwn(orders, name) ? (orders[name] ?? 0) : 0) <= order)
  const noted = refused.reduce((one, name) => act(one, { _tag: "Note", note: { _tag: "VariableRefused", name, nodeId } }), step)
  if (newer.length === 0) return noted
  const known = put(noted, {
    variables: { ...variables, ...Object.fromEntries(newer) },
    orders: { ...orders, ...Object.fromEntries(newer.map(([name]) => [name, order])) }
  })
  const agreed = withPrompts(withCallback(known, scene, Object.fromEntries(newer)), scene)
  return act(agreed, { _tag: "Remember", gathered: gatheredOf(agreed.state) })
}

/** From the next request on, the prompt shows the extracted values. */
const withPrompts = (step: Step, scene: Scene): Step => {
  const node = nodeOf(scene, step.state)
  return showsGathered(scene, node) ? put(step, renderedPrompts(scene, node, step.state)) : step
}

const callbackNames = ["callback_at", "callback_time", "callback"]

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** A time that callee and agent agreed on becomes `callback_at`; a value that is not a time leaves it unchanged. */
const withCallback = (step: Step, { now, plan: { timeZone } }: Scene, values: JsonObject): Step => {
  const said = callbackNames.map((name) => textOf(values[name])).find((text) => text !== "")
  const time = said === undefined ? undefined : callbackOf(said, now, timeZone)
  if (time === undefined || time.local === step.state.callbackAt) return step
  return act(put(step, { callbackAt: time.local }), { _tag: "AgreeCallback", at: time.at, local: time.local })
}
