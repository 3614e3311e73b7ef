/**
 * What the agent may say next, while the callee still listens or speaks: copies of the conversation go on as if the callee had answered, with a model
 * that answers at once. Nothing else of what would have to be done is done, and nothing is left of the copies but the lines.
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

/** Of a node with more ways on, only the first ones are thought of: each costs as much as the one that is taken. */
const mostEdges = 3
/** More completions in a row are a circle. */
const mostAsks = 4
/** Understood by nobody: which way it leads is said by the call that answers it. */
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

/** A conversation that goes on without anybody. */
class Copy {
  readonly #stand: Stand
  state: ConversationState
  /** What is said first. */
  line = ""
  #lineId: number | undefined
  /** What the model was asked last. */
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

  /** Until something is said, or the model is not asked any more. */
  readonly goOn = Effect.fnUntraced(function* (this: Copy, model: LanguageModel) {
    for (let left = mostAsks; left > 0 && this.line === "" && this.asked !== undefined; left--) {
      const ask = this.asked
      this.asked = undefined
      this.answered(ask, yield* Stream.runCollect(model.answer(ask.request)))
    }
    return this.line
  })
}

/** Once everything that is being said has been heard. */
const heard = (stand: Stand): Copy => {
  const copy = new Copy(stand)
  for (const { id } of stand.state.lines) copy.happens({ _tag: "LineSpoken", line: id })
  return copy
}

/** What the model will be asked once the callee has said this; undefined if nothing. */
export const requestAfter = (text: string, stand: Stand): ModelRequest | undefined => {
  const copy = new Copy(stand)
  copy.happens({ _tag: "CalleeTurn", text })
  return copy.asked?.request
}

const spoken = (line: string): ReadonlyArray<string> => (line.trim() === "" ? [] : [line])

/** If they say this now. */
const answerTo = (text: string, stand: Stand, model: LanguageModel) => {
  const copy = new Copy(stand)
  copy.happens({ _tag: "CalleeTurn", text })
  return Effect.map(copy.goOn(model), spoken)
}

/** Whichever way the callee's answer will lead; or without one, if the agent is to go on by itself. */
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

/** The first line of each way that the conversation may take. `text`: what the callee seems to have said; undefined while they have said nothing. */
export const foretell = (stand: Stand, model: LanguageModel, text: string | undefined): Effect.Effect<ReadonlyArray<string>> =>
  Effect.catchCause(text === undefined ? nextLines(stand, model) : answerTo(text, stand, model), (cause) =>
    // What the model fails at now, it will fail at again when it is asked in earnest.
    Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed([])
  )
