/** The tool calls of a completion: run, answered, and passed to the model together. */
import type { JsonObject } from "#core/Json.ts"
import type { ModelToolCall } from "#core/model/LanguageModel.ts"
import { recordingOf } from "#core/agent/Opening.ts"
import { sayFarewell } from "./Asking.ts"
import { calculate } from "./Calculator.ts"
import type { ConversationEdge } from "./ConversationGraph.ts"
import {
  type Answer,
  act,
  type Batch,
  type ConversationState,
  nodeOf,
  type PendingCall,
  put,
  type Scene,
  type Step,
  type ToolAnswer
} from "./ConversationState.ts"
import { type ControlTool, type ConversationTool, isControl } from "./ConversationTool.ts"
import { abandonCalls, endAfterLines, endFor } from "./Ending.ts"
import { extract } from "./Extractions.ts"
import { completed, withEntries } from "./History.ts"
import { httpRequestOf, resultOf } from "./HttpTool.ts"
import { enter, speakFirst } from "./Nodes.ts"
import { rendered } from "./Rendering.ts"
import { toolsFor } from "./Requests.ts"
import { play, say } from "./Speech.ts"

const digitsTimeoutMillis = 20_000
const mostDigits = 32

const done: JsonObject = { status: "done" }
const wrong = (error: string): JsonObject => ({ status: "error", error })

/** Starts the calls once the completion is complete: one that breaks off is requested again, and nothing may be done twice. */
export const startCalls = (step: Step, scene: Scene, answer: Answer): Step => {
  const { history, next } = step.state
  const tools = toolsFor(scene, step.state)
  const found = answer.calls.map((call) => ({ call, tool: tools.find(({ offered }) => offered.name === call.name) }))
  const control = found.find(({ tool }) => tool !== undefined && isControl(tool))
  const batch: Batch = {
    id: next,
    calls: found.map(({ call, tool }) => ({ call, isControl: tool !== undefined && isControl(tool), result: undefined })),
    held: undefined,
    timeoutMillis: 0
  }
  const begun = put(step, { next: next + 1, batch, history: completed(history, answer.line, answer) })
  const noted = act(begun, ...answer.calls.map((call) => ({ _tag: "Note" as const, note: { _tag: "ToolStarted" as const, call } })))
  const started = found.reduce((one, { call, tool }) => {
    if (call === control?.call) return one
    if (tool !== undefined && isControl(tool)) return settled(one, call.id, wrong("Only the first of these calls was followed."))
    return tool === undefined ? settled(one, call.id, wrong(`There is no tool ${call.name} here.`)) : runOrdinary(one, scene, call, tool)
  }, noted)
  if (control === undefined) return goOn(started, scene)
  const { tool } = control
  // An opt-out is written as soon as it is heard, whatever is still being said.
  const written = tool?._tag === "OptOut" ? optedOut(started) : started
  const isHeard = !written.state.lines.some(({ id }) => id === answer.line)
  if (answer.line === undefined || isHeard) return runControl(written, scene, control.call.id)
  return withBatch(written, { held: { callId: control.call.id, line: answer.line } })
}

const withBatch = (step: Step, part: Partial<Batch>): Step => {
  const { batch } = step.state
  return batch === undefined ? step : put(step, { batch: { ...batch, ...part } })
}

const pendingIn = ({ batch }: ConversationState, callId: string): PendingCall | undefined =>
  batch?.calls.find(({ call, result }) => call.id === callId && result === undefined)

/** The call has its result. */
const settled = (step: Step, callId: string, result: JsonObject): Step => {
  const pending = pendingIn(step.state, callId)
  if (pending === undefined) return step
  const calls = step.state.batch?.calls.map((one) => (one === pending ? { ...one, result } : one)) ?? []
  return act(withBatch(step, { calls }), { _tag: "Note", note: { _tag: "ToolEnded", call: pending.call, result } })
}

/** The model continues once every call has its result. While the callee speaks, it waits for their turn. */
const goOn = (step: Step, scene: Scene): Step => {
  const { batch, history, isCalleeSpeaking, phase, unanswered } = step.state
  if (batch === undefined || batch.calls.some(({ result }) => result === undefined)) return step
  const results = batch.calls.map(({ call, isControl: isOfGraph, result = {} }) => ({
    _tag: "ToolResult" as const,
    callId: call.id,
    name: call.name,
    result,
    isControl: isOfGraph
  }))
  const told = put(step, { batch: undefined, unanswered: [], history: withEntries(history, ...results, ...unanswered) })
  return phase !== "live" || isCalleeSpeaking ? told : speakFirst(told, scene)
}

const runOrdinary = (step: Step, scene: Scene, call: ModelToolCall, tool: ConversationTool): Step => {
  if (tool._tag === "Calculator") return settled(step, call.id, calculated(call))
  if (tool._tag === "SendDigits") {
    const digits = String(call.arguments["digits"] ?? "").replaceAll(/[\s,-]/g, "")
    if (!/^[0-9*#A-Dw]+$/.test(digits) || digits.length > mostDigits) return settled(step, call.id, wrong("These are no keys."))
    return act(atLeast(step, digitsTimeoutMillis), { _tag: "SendDigits", callId: call.id, digits })
  }
  if (tool._tag !== "Http") return step
  const built = httpRequestOf(tool.config, call.arguments, { initial: step.state.context, gathered: step.state.variables }, scene.now)
  if ("error" in built) return settled(step, call.id, wrong(built.error))
  const said = sayMessage(step, scene, messageIn(tool.config, "customMessageType", "customMessageRecordingId"))
  return act(atLeast(said, built.request.timeoutMillis), { _tag: "RunTool", callId: call.id, tool: call.name, request: built.request })
}

const atLeast = (step: Step, timeoutMillis: number): Step =>
  withBatch(step, { timeoutMillis: Math.max(timeoutMillis, step.state.batch?.timeoutMillis ?? 0) })

const calculated = ({ arguments: given }: ModelToolCall): JsonObject => {
  const computed = calculate(String(given["expression"] ?? ""))
  return "error" in computed ? wrong(computed.error) : { status: "success", result: computed.value }
}

interface Message {
  readonly isAudio: boolean
  readonly text: unknown
  readonly recording: unknown
}

const messageIn = (config: JsonObject, type: string, recording: string): Message => ({
  isAudio: config[type] === "audio",
  text: config[type] === "none" ? "" : config["customMessage"],
  recording: config[recording]
})

/** Not shown to the model, which did not say it. */
const sayMessage = (step: Step, scene: Scene, { isAudio, recording, text }: Message): Step => {
  const manner = { isInterruptible: false }
  if (!isAudio) return typeof text === "string" ? say(step, rendered(scene, step.state, text), manner) : step
  const name = recordingOf(recording)
  return name === undefined ? step : play(step, name, manner)
}

/** The text said with the call has been heard, so the call may run. */
const runControl = (step: Step, scene: Scene, callId: string): Step => {
  const free = withBatch(step, { held: undefined })
  const call = pendingIn(free.state, callId)?.call
  const tool = toolsFor(scene, free.state).find(({ offered }) => offered.name === call?.name)
  return call === undefined || tool === undefined || !isControl(tool) ? free : controls(free, scene, call, tool)
}

const controls = (step: Step, scene: Scene, call: ModelToolCall, tool: ControlTool): Step => {
  switch (tool._tag) {
    case "Edge":
      return goOn(settled(follow(step, scene, tool.edge), call.id, done), scene)
    case "EndCall": {
      const reason = call.arguments["reason"]
      const own =
        tool.config["endCallReason"] === true && typeof reason === "string" && reason.trim() !== "" ? { disposition: reason.trim() } : {}
      const said = sayMessage(settled(step, call.id, done), scene, messageIn(tool.config, "messageType", "audioRecordingId"))
      return endAfterLines(said, scene, endFor("end_call_tool", { ...own, tags: ["end_call_tool"] }))
    }
    case "OptOut":
      return sayGoodbye(settled(step, call.id, done), scene)
    case "Transfer":
      return transfer(step, scene, call, tool.config)
  }
}

const follow = (step: Step, scene: Scene, { speech, target }: ConversationEdge): Step => {
  const extracted = extract(step, scene)
  const said =
    speech?._tag === "Recording"
      ? play(extracted, speech.name, { isInterruptible: false })
      : say(extracted, rendered(scene, step.state, speech?.template ?? ""), { isInterruptible: false })
  const node = scene.plan.graph.nodes.get(target)
  return node === undefined ? said : enter(said, scene, node)
}

const transferSeconds = 30
/** For the lines said before it, the account's rate and late events: longer than the call waits for the outcome. */
const transferSlackMillis = 90_000

const transfer = (step: Step, scene: Scene, call: ModelToolCall, config: JsonObject): Step => {
  const { context, variables } = step.state
  const known = { ...step.state, context: { ...context, ...variables } }
  const isStatic = (config["destination_source"] ?? "static") === "static"
  const template = config["destination"]
  const destination = isStatic && typeof template === "string" ? rendered(scene, known, template).trim() : ""
  if (destination === "") return goOn(settled(step, call.id, wrong("There is no destination to transfer to.")), scene)
  const seconds = config["timeout"]
  const timeoutSeconds = typeof seconds === "number" ? Math.min(120, Math.max(5, seconds)) : transferSeconds
  const said = sayMessage(step, scene, messageIn(config, "messageType", "audioRecordingId"))
  return act(atLeast(said, timeoutSeconds * 1000 + transferSlackMillis), { _tag: "Transfer", callId: call.id, destination, timeoutSeconds })
}

/** Written once, as soon as it is heard. */
export const optedOut = (step: Step): Step => (step.state.hasOptedOut ? step : act(put(step, { hasOptedOut: true }), { _tag: "OptOut" }))

const sayGoodbye = (step: Step, scene: Scene): Step =>
  sayFarewell(abandonCalls(step, "The call ends."), scene, endFor("user_disqualified", { tags: ["opted_out"] }))

/** The callee asked not to be called again: nothing else matters any more. */
export const optOut = (step: Step, scene: Scene): Step => (step.state.hasOptedOut ? step : sayGoodbye(optedOut(step), scene))

export const toolAnswered = (step: Step, scene: Scene, callId: string, answer: ToolAnswer): Step =>
  goOn(settled(step, callId, resultFrom(answer)), scene)

const resultFrom = (answer: ToolAnswer): JsonObject => {
  switch (answer._tag) {
    case "Response":
      return resultOf(answer.status, answer.body)
    case "Sent":
      return { status: "success" }
    case "Failed":
      return wrong(answer.reason.slice(0, 500))
  }
}

/** Calls that are still running are no longer awaited. */
export const toolsTimedOut = (step: Step, scene: Scene): Step => {
  const { batch } = step.state
  const late = batch?.calls.filter(({ call, result }) => result === undefined && call.id !== batch.held?.callId) ?? []
  return goOn(
    late.reduce((one, { call }) => settled(one, call.id, wrong("It did not answer in time.")), step),
    scene
  )
}

/** The line has been heard, or never will be: the control that waited for it runs. */
export const releaseControl = (step: Step, scene: Scene, line: number): Step => {
  const held = step.state.batch?.held
  return held?.line === line ? runControl(step, scene, held.callId) : step
}

/** The callee interrupted the text of a call that moves the conversation on: they may have objected, so the call does not run. */
export const cancelControl = (step: Step, scene: Scene): Step => {
  const held = step.state.batch?.held
  if (held === undefined || nodeOf(scene, step.state).type === "endCall") return step
  return goOn(withBatch(settled(step, held.callId, { status: "cancelled", error: "The callee interrupted." }), { held: undefined }), scene)
}
