/**
 * What the agent may say next, while the callee is still listening or speaking: copies of the conversation continue as if the callee had
 * answered, with a model that answers at once. No other actions are carried out, and only the copies' lines are kept.
 */
import { Cause, Effect, Stream } from "effect"
import { step } from "#core/agent/conversation/Conversation.ts"
import type {
  ConversationAction,
  ConversationEvent,
  ConversationPlan,
  ConversationState
} from "#core/agent/conversation/ConversationState.ts"
import { type LanguageModel, type ModelPart, type ModelRequest, noTokens } from "#core/model/LanguageModel.ts"

/** Only the first edges of a node are explored: each costs as much as the one that is taken. */
const mostEdges = 3
/** More completions in a row mean a loop. */
const mostAsks = 4
/** Nobody interprets these words: the tool call that answers them determines the edge. */
const anyWords = "yes"
const followed = (tool: string): ReadonlyArray<ModelPart> => [
  { _tag: "ToolCall", call: { id: "foretold", name: tool, arguments: {} } },
  { _tag: "Finished", why: "tool_calls", usage: noTokens }
]

export interface Stand {
  readonly plan: ConversationPlan
  readonly state: ConversationState
  readonly now: number
}

type Ask = Extract<ConversationAction, { readonly _tag: "AskModel" }>

/** A copy of a conversation that continues without a callee. */
class Copy {
  readonly #stand: Stand
  state: ConversationState
  /** The first line said. */
  line = ""
  #lineId: number | undefined
  /** The latest request to the model. */
  asked: Ask | undefined

  constructor(stand: Stand) {
    this.#stand = stand
    this.state = stand.state
  }

  happens(event: ConversationEvent): void {
    const { now, plan } = this.#stand
    const moved = step(plan, this.state, event, now)
    this.state = moved.state
    for (const action of moved.actions) {
      if (action._tag === "AskModel" && action.request.purpose !== "extract") this.asked = action
      if (action._tag !== "Say" || (this.#lineId ?? action.line) !== action.line) continue
      this.#lineId = action.line
      this.line += action.text
    }
  }

  answered({ generation }: Ask, parts: Iterable<ModelPart>): void {
    for (const part of parts) this.happens({ _tag: "ModelSaid", generation, part })
  }

  /** Continues until something is said, or the model is not asked any more. */
  readonly goOn = Effect.fnUntraced(function* (this: Copy, model: LanguageModel) {
    for (let left = mostAsks; left > 0 && this.line === "" && this.asked !== undefined; left--) {
      const ask = this.asked
      this.asked = undefined
      this.answered(ask, yield* Stream.runCollect(model.answer(ask.request)))
    }
    return this.line
  })
}

/** A copy in which everything being said has been heard. */
const heard = (stand: Stand): Copy => {
  const copy = new Copy(stand)
  for (const { id } of stand.state.lines) copy.happens({ _tag: "LineSpoken", line: id })
  return copy
}

/** What the model will be asked once the callee has said this; undefined if it will not be asked. */
export const requestAfter = (text: string, stand: Stand): ModelRequest | undefined => {
  const copy = new Copy(stand)
  copy.happens({ _tag: "CalleeTurn", text })
  return copy.asked?.request
}

const spoken = (line: string): ReadonlyArray<string> => (line.trim() === "" ? [] : [line])

/** The lines that follow if the callee says this now. */
const answerTo = (text: string, stand: Stand, model: LanguageModel) => {
  const copy = new Copy(stand)
  copy.happens({ _tag: "CalleeTurn", text })
  return Effect.map(copy.goOn(model), spoken)
}

/** The lines for each edge that the callee's answer may choose, or the next line if the agent continues by itself. */
const nextLines = Effect.fnUntraced(function* (stand: Stand, model: LanguageModel) {
  const { plan, state } = stand
  if (state.phase !== "live" || state.answer !== undefined) return []
  const after = heard(stand)
  if (after.asked !== undefined || after.line !== "") return spoken(yield* after.goOn(model))
  const edges = plan.graph.nodes.get(state.nodeId)?.edges.slice(0, mostEdges) ?? []
  const lines = yield* Effect.forEach(edges, ({ tool }) => {
    const copy = heard(stand)
    copy.happens({ _tag: "CalleeTurn", text: anyWords })
    const { asked } = copy
    copy.asked = undefined
    if (asked !== undefined) copy.answered(asked, followed(tool))
    return copy.goOn(model)
  })
  return [...new Set(lines.flatMap(spoken))]
})

/**
 * The first line of each path that the conversation may take. `text`: what the callee seems to have said; undefined while they have said
 * nothing.
 */
export const foretell = (stand: Stand, model: LanguageModel, text: string | undefined): Effect.Effect<ReadonlyArray<string>> =>
  Effect.catchCause(text === undefined ? nextLines(stand, model) : answerTo(text, stand, model), (cause) =>
    // A model that fails now will fail again when it is really asked.
    Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed([])
  )
