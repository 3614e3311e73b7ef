/**
 * Runs a conversation without audio or network: the model, the tools and the callee are scripted, and time passes only when a test says so.
 * Lines count as heard as soon as they are complete, unless `holdsLines` is set.
 */
import type { JsonObject } from "#core/Json.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { step } from "#core/agent/conversation/Conversation.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import {
  type ConversationAction,
  type ConversationEvent,
  type ConversationPlan,
  type ConversationState,
  fresh,
  type ToolAnswer
} from "#core/agent/conversation/ConversationState.ts"
import { compileTools } from "#core/agent/conversation/ConversationTool.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import { ToolId } from "#core/Id.ts"
import type { ModelPart, ModelRequest } from "#core/model/LanguageModel.ts"
import type { Tool, ToolDefinition } from "#core/tool/Tool.ts"

/** Thursday, 5 March 2026, 10:00 in New York. */
export const talkStart = Date.UTC(2026, 2, 5, 15, 0)

export const planOf = (definition: JsonObject, configurations: JsonObject = {}, tools: ReadonlyArray<Tool> = []): ConversationPlan => {
  const graph = compile(definition, configurations)
  if (graph === undefined) throw new Error("The definition has no start")
  return { graph, tools: compileTools(tools), settings: settingsOf(configurations), timeZone: "America/New_York", canHear: true }
}

export const toolUuid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
export const storedTool = (number: number, name: string, definition: Partial<ToolDefinition> & Pick<ToolDefinition, "type">): Tool => ({
  id: ToolId.make(number),
  toolUuid: toolUuid(number),
  name,
  description: `${name}.`,
  category: definition.type,
  icon: null,
  iconColor: null,
  status: "active",
  definition: { schema_version: 1, ...definition },
  createdAt: new Date(talkStart),
  updatedAt: null,
  createdBy: null,
  creatorProviderId: null
})

const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }
export const finished: ModelPart = { _tag: "Finished", why: "stop", usage }
export const text = (words: string): ModelPart => ({ _tag: "Text", text: words })
let calls = 0
export const call = (name: string, given: JsonObject = {}): ModelPart => ({
  _tag: "ToolCall",
  call: { id: `call-${++calls}`, name, arguments: given }
})

/** The model's answer, to which `Finished` is added. "fails" can be retried, "refuses" cannot, and "hangs" never returns. */
type Reply = ReadonlyArray<ModelPart> | "fails" | "refuses" | "hangs"
export type ScriptedModel = (request: ModelRequest) => Reply

interface Script {
  readonly model: ScriptedModel
  readonly tool?: (request: HttpToolRequest) => ToolAnswer | undefined
  readonly context?: JsonObject
  readonly holdsLines?: boolean
}

export const started = (plan: ConversationPlan, script: Script): Talk => {
  const talk = makeTalk(plan, script)
  talk.send({ _tag: "Started", context: script.context ?? {} })
  return talk
}

const makeTalk = (plan: ConversationPlan, { holdsLines = false, model, tool = () => undefined }: Script) => {
  let state = fresh(plan)
  let now = talkStart
  const actions: Array<ConversationAction> = []
  const queue: Array<ConversationEvent> = []
  const timers = new Map<string, { readonly id: number; readonly at: number }>()
  const texts = new Map<number, string>()

  const replied = (generation: number, request: ModelRequest) => {
    const reply = model(request)
    if (reply === "hangs") return
    if (reply === "fails" || reply === "refuses") queue.push({ _tag: "ModelFailed", generation, isRetryable: reply === "fails" })
    else for (const part of [...reply, finished]) queue.push({ _tag: "ModelSaid", generation, part })
  }
  const perform = (action: ConversationAction) => {
    if (action._tag === "Say" || action._tag === "Play") {
      texts.set(
        action.line,
        (texts.get(action.line) ?? "") + (action._tag === "Say" ? action.text : `[${JSON.stringify(action.recording)}]`)
      )
      if (!holdsLines && (action._tag === "Play" || action.isLast)) queue.push({ _tag: "LineSpoken", line: action.line })
    }
    if (action._tag === "AskModel") replied(action.generation, action.request)
    if (action._tag === "RunTool") {
      const answer = tool(action.request)
      if (answer !== undefined) queue.push({ _tag: "ToolAnswered", callId: action.callId, answer })
    }
    if (action._tag === "SendDigits") queue.push({ _tag: "ToolAnswered", callId: action.callId, answer: { _tag: "Sent" } })
    if (action._tag === "SetTimer") timers.set(action.timer, { id: action.id, at: now + action.afterMillis })
    if (action._tag === "ClearTimer") timers.delete(action.timer)
  }
  const send = (event: ConversationEvent) => {
    queue.push(event)
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (next._tag === "LineInterrupted") texts.set(next.line, `${next.heard}-`)
      const moved = step(plan, state, next, now)
      state = moved.state
      actions.push(...moved.actions)
      moved.actions.forEach(perform)
    }
  }
  /** Lets time pass and timers fire. */
  const wait = (millis: number) => {
    const until = now + millis
    while (true) {
      const [due] = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)
      if (due === undefined) break
      const [name, { at, id }] = due
      timers.delete(name)
      now = at
      send({ _tag: "TimerFired", id })
    }
    now = until
  }
  return {
    state: (): ConversationState => state,
    /** All actions so far. */
    actions: actions as ReadonlyArray<ConversationAction>,
    send,
    says: (words: string) => {
      send({ _tag: "CalleeStarted" })
      send({ _tag: "CalleeTurn", text: words })
    },
    wait,
    /** All lines so far. A line that was cut short ends with a dash. */
    lines: (): ReadonlyArray<string> => [...texts.values()],
    requests: (): ReadonlyArray<ModelRequest> => actions.flatMap((action) => (action._tag === "AskModel" ? [action.request] : [])),
    conclusion: () => actions.flatMap((action) => (action._tag === "Conclude" ? [action.conclusion] : []))[0]
  }
}
export type Talk = ReturnType<typeof makeTalk>
