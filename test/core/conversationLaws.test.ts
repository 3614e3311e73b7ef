/** What holds in every conversation, whatever happens, in any order and with repeats. */
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import t from "tap"
import { step } from "#core/agent/conversation/Conversation.ts"
import {
  type ConversationAction,
  type ConversationEvent,
  type ConversationState,
  fresh
} from "#core/agent/conversation/ConversationState.ts"
import { toolsAt } from "#core/agent/conversation/ConversationTool.ts"
import type { ModelMessage, ModelPart } from "#core/model/LanguageModel.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { call, finished, planOf, storedTool, talkStart, text, toolUuid } from "#test/support/talk.ts"
import { edge, node } from "#test/support/talkScript.ts"

const extracting = {
  extraction_enabled: true,
  extraction_variables: [
    { name: "count", type: "number" },
    { name: "callback_time", type: "string" }
  ]
}
const definition = {
  nodes: [
    node("start", "startCall", { greeting: "Hi {{name}}.", tool_uuids: [toolUuid(1), toolUuid(2)], ...extracting }),
    node("firm", "agentNode", { allow_interrupt: false, tool_uuids: [toolUuid(3), toolUuid(4)], ...extracting }),
    node("free", "agentNode", { add_global_prompt: true }),
    node("end", "endCall", extracting),
    node("g", "globalNode", { prompt: "{{c}}{{a}}{{a}}{{a}}{{current_time_{{b}}}}{{__proto__.x}}" })
  ],
  edges: [
    edge("start", "firm", "on", { transition_speech: "One {{name}}." }),
    edge("start", "free", "off"),
    edge("firm", "free", "next"),
    edge("free", "firm", "back", { transition_speech_type: "audio", transition_speech_recording_id: "5" }),
    edge("free", "end", "done"),
    edge("firm", "end", "done")
  ]
}
const tools = [
  storedTool(1, "Ask", { type: "http_api", config: { method: "POST", url: "https://a.example/{{name}}", customMessage: "Wait." } }),
  storedTool(2, "Sums", { type: "calculator" }),
  storedTool(3, "Finish", { type: "end_call", config: { messageType: "custom", customMessage: "Bye." } }),
  storedTool(4, "Move", { type: "transfer_call", config: { destination: "+15550100" } })
]
const plans = ["hangup", "leave_message", "continue", ""].map((action) =>
  planOf(definition, { send_dtmf: true, voicemail_detection: { enabled: action !== "", action, message: "Call us." } }, tools)
)
const toolNames = ["on", "off", "next", "back", "done", "ask", "safe_calculator", "finish", "move", "send_dtmf", "opt_out", "none"]
const sentences = [
  "",
  " \u0000 ",
  ...Array.from({ length: 40 }, (_, index) => `yes ${index}`),
  "stop calling me",
  "Please leave a message after the tone.",
  "State your name and the reason for calling.",
  "x".repeat(5000),
  "{{a}} ▸ \ud800"
]

/** Possible events, whose subject is chosen by numbers: mostly what is awaited, at times what is long over. */
const moves = fc.array(fc.record({ kind: fc.nat(99), pick: fc.nat(1000), isStale: fc.nat(9) }), {
  minLength: 30,
  maxLength: 150,
  size: "max"
})
interface Move {
  readonly kind: number
  readonly pick: number
  readonly isStale: number
}
const among = <A>(list: ReadonlyArray<A>, pick: number): A | undefined => list[pick % Math.max(1, list.length)]

const partOf = (state: ConversationState, pick: number): ModelPart => {
  const offered = state.answer?.request.tools.map(({ name }) => name) ?? []
  const names = pick % 7 === 0 ? toolNames : [...offered.filter((name) => name !== "opt_out"), "save_variables"]
  const isEmpty = state.answer?.line === undefined && state.answer?.calls.length === 0
  if (pick % 5 === 0) return text(among(sentences, pick) ?? "")
  if (pick % 5 < (isEmpty && pick % 11 > 0 ? 0 : 4)) return finished
  return call(among(names, pick >> 2) ?? "", {
    digits: "1",
    expression: "1+1",
    count: pick % 2 === 0 ? 3 : "many",
    callback_time: "tomorrow at 3"
  })
}

const eventOf = (state: ConversationState, { isStale, kind, pick }: Move): ConversationEvent => {
  const number = (awaited: ReadonlyArray<number>) => (isStale === 0 ? pick % 60 : (among(awaited, pick) ?? pick % 60))
  const line = number(state.lines.map(({ id }) => id))
  const generation = number([
    ...(state.answer === undefined ? [] : [state.answer.generation]),
    ...state.extractions.map((one) => one.generation)
  ])
  if (kind < 15) return { _tag: "LineSpoken", line }
  if (kind < 24) return { _tag: "LineInterrupted", line, heard: among(sentences, pick) ?? "" }
  if (kind < 25) return { _tag: "LineFailed", line }
  if (kind < 55) return { _tag: "ModelSaid", generation, part: partOf(state, pick) }
  if (kind < 56) return { _tag: "ModelFailed", generation, isRetryable: pick % 2 === 0 }
  if (kind < 65) {
    const callId = among(state.batch?.calls.map((one) => one.call.id) ?? [], pick) ?? "call-0"
    const answers = [{ _tag: "Response", status: 200, body: "{}" }, { _tag: "Sent" }, { _tag: "Failed", reason: "no" }] as const
    return { _tag: "ToolAnswered", callId, answer: among(answers, pick) ?? { _tag: "Sent" } }
  }
  if (kind < 72) return { _tag: "TimerFired", id: number(Object.values(state.timers).map(({ id }) => id)) }
  if (kind < 78) return { _tag: "CalleeStarted" }
  if (kind < 88) return { _tag: "CalleeTurn", text: among(sentences, pick) ?? "" }
  if (kind < 93) return { _tag: "KeyPressed", digit: among(["1", "#", "x"], pick) ?? "1" }
  if (kind < 95)
    return { _tag: "MachineHeard", verdict: among(["human", "machine", "screening", "menu", "unknown"] as const, pick) ?? "human" }
  if (kind < 97) return { _tag: "MessageMoment", canSpeak: pick % 2 === 0 }
  if (kind < 98 || pick % 3 > 0) return { _tag: "Started", context: { a: "again" } }
  return kind < 99 ? { _tag: "EndRequested", reason: "system_cancelled" } : { _tag: "CalleeHungUp" }
}

interface Moment {
  readonly event: ConversationEvent
  readonly before: ConversationState
  readonly state: ConversationState
  readonly actions: ReadonlyArray<ConversationAction>
}
const context = { name: "{{name}}", a: "y".repeat(90_000), b: "Europe/Berlin", c: "▸●\u0007" }
const lived = (planNumber: number, story: ReadonlyArray<Move>): ReadonlyArray<Moment> => {
  const plan = plans[planNumber % plans.length] ?? planOf(definition)
  const moments: Array<Moment> = []
  let state = fresh(plan)
  const meet = (event: ConversationEvent) => {
    const before = state
    const moved = step(plan, before, event, talkStart)
    state = moved.state
    moments.push({ event, before, state, actions: moved.actions })
  }
  meet({ _tag: "Started", context })
  for (const move of story) meet(eventOf(state, move))
  return moments
}
const holds = (law: (moments: ReadonlyArray<Moment>, planNumber: number) => boolean) =>
  forAllOf({ numRuns: 400 }, fc.nat(3), moves, (planNumber, story) => law(lived(planNumber, story), planNumber))
const actionsIn = (moments: ReadonlyArray<Moment>) => moments.flatMap(({ actions }) => actions)
const count = (moments: ReadonlyArray<Moment>, tag: ConversationAction["_tag"]) =>
  actionsIn(moments).filter(({ _tag }) => _tag === tag).length

t.test("given any conversation, then it ends once, and nothing comes after its end", async () => {
  holds((moments) => {
    const after = moments.slice(moments.findIndex(({ state }) => state.phase === "over") + 1)
    const isOver = moments.at(-1)?.state.phase === "over"
    return (
      count(moments, "HangUp") <= 1 &&
      count(moments, "OptOut") <= 1 &&
      count(moments, "Conclude") === (isOver ? 1 : 0) &&
      (!isOver || actionsIn(moments).at(-1)?._tag === "Conclude") &&
      (!isOver || after.every(({ actions }) => actions.length === 0))
    )
  })
})

/** Events that bring a conversation to its end, if it has not ended. */
const whatEnds = ({ lines, timers }: ConversationState): ReadonlyArray<ConversationEvent> => [
  { _tag: "EndRequested", reason: "system_cancelled" },
  { _tag: "CalleeHungUp" },
  { _tag: "MachineHeard", verdict: "machine" },
  { _tag: "CalleeTurn", text: "Stop calling me." },
  ...Object.values(timers).map(({ id }) => ({ _tag: "TimerFired" as const, id })),
  ...lines.map(({ id }) => ({ _tag: "LineFailed" as const, line: id }))
]

t.test("given any conversation, then its first end remains its end", async () => {
  holds((moments, planNumber) => {
    const plan = plans[planNumber]
    const ending = moments.flatMap(({ state }) => (state.end === undefined || state.phase === "over" ? [] : [state]))
    return ending.every(
      (state) => plan !== undefined && whatEnds(state).every((event) => step(plan, state, event, talkStart).state.end === state.end)
    )
  })
})

t.test("given any conversation, then no line is left open for good", async () => {
  holds((moments) => moments.every(({ state }) => state.lines.every(({ id, isClosed }) => isClosed || state.answer?.line === id)))
})

t.test("given any conversation, then nothing is answered twice", async () => {
  holds((moments, planNumber) => {
    const plan = plans[planNumber]
    return moments.every(({ event, state }) => {
      const isDone =
        event._tag === "ToolAnswered" ||
        event._tag === "ModelFailed" ||
        event._tag === "LineSpoken" ||
        event._tag === "TimerFired" ||
        (event._tag === "ModelSaid" && event.part._tag === "Finished")
      if (!isDone || plan === undefined) return true
      const again = step(plan, state, event, talkStart)
      const isOpen = event._tag === "LineSpoken" && state.lines.some(({ id }) => id === event.line)
      return isOpen || (again.actions.length === 0 && isDeepStrictEqual(again.state, state))
    })
  })
  holds((moments) => {
    const generations = actionsIn(moments).flatMap((action) => (action._tag === "AskModel" ? [action.generation] : []))
    return new Set(generations).size === generations.length
  })
})

t.test("given any conversation, then the model is offered the tools of its node alone", async () => {
  holds((moments, planNumber) =>
    moments.every(({ actions }) =>
      actions.every((action) => {
        const plan = plans[planNumber]
        if (action._tag !== "AskModel" || plan === undefined) return true
        const { node: of, purpose, tools: offered } = action.request
        const at = plan.graph.nodes.get(of.id)
        const own = at === undefined ? [] : toolsAt(at, plan.tools, plan.settings).map((tool) => tool.offered)
        if (purpose === "extract") return offered.length === 1
        return isDeepStrictEqual(offered, purpose === "turn" ? own : []) && (of.type !== "endCall" || offered.length === 0)
      })
    )
  )
})

/** Whether each tool call is directly followed by its result. */
const isValid = (messages: ReadonlyArray<ModelMessage>): boolean => {
  let owed: ReadonlyArray<string> = []
  return (
    messages.every((message) => {
      if (message._tag === "ToolResult") {
        const [first, ...rest] = owed
        owed = rest
        return first === message.callId
      }
      if (owed.length > 0) return false
      if (message._tag === "Assistant") owed = message.calls.map(({ id }) => id)
      return true
    }) && owed.length === 0
  )
}

t.test("given any conversation, then what the model is told is valid, bounded, and without the context's control characters", async () => {
  holds((moments) =>
    actionsIn(moments).every(
      (action) =>
        action._tag !== "AskModel" ||
        (isValid(action.request.messages) &&
          JSON.stringify(action.request.messages).length < 200_000 &&
          action.request.instructions.length < 140_000 &&
          !["▸", "●", "\u0007"].some((mark) => action.request.instructions.includes(mark)))
    )
  )
})

t.test("given any conversation, then a line that was dropped or is whole is not spoken further", async () => {
  holds((moments) => {
    let newest = 0
    let dropped = 0
    const whole = new Set<number>()
    return actionsIn(moments).every((action) => {
      if (action._tag === "StopSpeaking") dropped = newest
      if (action._tag !== "Say" && action._tag !== "Play") return true
      newest = Math.max(newest, action.line)
      const isLate = action.line <= dropped || whole.has(action.line)
      if (action._tag === "Play" || action.isLast) whole.add(action.line)
      return !isLate
    })
  })
})

t.test("given any moment, when nothing more happens, then the timers alone bring the conversation to its end", async () => {
  holds((moments, planNumber) => {
    const plan = plans[planNumber]
    let state = moments.at(-1)?.state
    if (state === undefined || plan === undefined) return false
    const due = new Map<string, number>()
    let now = 0
    const arm = (actions: ReadonlyArray<ConversationAction>) => {
      for (const action of actions) {
        if (action._tag === "SetTimer") due.set(action.timer, now + action.afterMillis)
        if (action._tag === "ClearTimer") due.delete(action.timer)
      }
    }
    arm(actionsIn(moments))
    while (state.phase !== "over") {
      const names: ReadonlyArray<readonly [string, { readonly id: number }]> = Object.entries(state.timers)
      // A stopwatch is not enough: what is waited for must have its own limit.
      if (state.phase !== "concluding" && names.length < 2) return false
      const [first] = names.toSorted(([a], [b]) => (due.get(a) ?? 0) - (due.get(b) ?? 0))
      if (first === undefined) return false
      now = due.get(first[0]) ?? now
      due.delete(first[0])
      const moved = step(plan, state, { _tag: "TimerFired", id: first[1].id }, talkStart)
      state = moved.state
      arm(moved.actions)
    }
    return now <= plan.settings.maxCallMillis + 30_000
  })
})

t.test("given an endless conversation, then its state stays within bounds", async (t) => {
  const plan = plans[2] ?? planOf(definition)
  let state = fresh(plan)
  let largest = 0
  const meet = (event: ConversationEvent) => {
    state = step(plan, state, event, talkStart).state
  }
  meet({ _tag: "Started", context })
  for (let turn = 0; turn < 2000; turn++) {
    for (const { id } of state.lines) meet({ _tag: "LineSpoken", line: id })
    meet({ _tag: "CalleeTurn", text: `${turn} ${"w".repeat(9000)}` })
    meet({ _tag: "ModelSaid", generation: state.answer?.generation ?? 0, part: text("z".repeat(100_000)) })
    meet({ _tag: "ModelSaid", generation: state.answer?.generation ?? 0, part: finished })
    largest = Math.max(largest, turn % 100 === 0 ? JSON.stringify(state).length : 0)
  }
  t.equal(state.phase, "live")
  t.ok(largest < 400_000, `${largest} characters`)
})
