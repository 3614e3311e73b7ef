/**
 * What every language model must do, as named cases that any test runner can run. They check the parts of its answers and the requests that its
 * service has received.
 */
import { Effect, Fiber, Result, Stream } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import { isObject } from "#core/Json.ts"
import type { LanguageModel, ModelError, ModelMessage, ModelPart, ModelRequest, ModelToolCall } from "#core/model/LanguageModel.ts"
import type { LanguageModelProvider } from "#core/model/ModelProvider.ts"
import { type Case, verdictOf } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { serviceRules } from "./serviceRules.ts"

type Config = Readonly<Record<string, unknown>>
export interface ScriptedAnswer {
  readonly text?: string
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** The service never ends this answer. */
  readonly hangs?: boolean
}

/** The service that a model calls. It runs on this machine. */
export interface ModelWorld {
  readonly config: Config
  readonly egress: Egress
  /** Sets the service's next answer; left out for models that answer by themselves. */
  readonly script?: (answer: ScriptedAnswer) => void
  /** The configuration with a key that the service refuses. */
  readonly wrongConfig?: Config
  /** Resolves when the service has seen that a request was abandoned. */
  readonly givenUp?: () => Promise<unknown>
  readonly close: () => Promise<void>
}

interface Scene {
  readonly provider: LanguageModelProvider
  readonly world: ModelWorld
}
interface Answered {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error: ModelError | undefined
}

const said = "Yes, I would like that"
const parameters = { type: "object", properties: {}, required: [] }
const phrases: ReadonlyArray<string> = []
const agreed = { id: "e1", tool: "agrees", label: "Agrees", condition: "The callee says yes", phrases, leadsTo: "agentNode" } as const
const declined = { id: "e2", tool: "declines", label: "Declines", condition: "The callee says no", phrases, leadsTo: "endCall" } as const
const greeting: ModelMessage = { _tag: "Assistant", text: "Would you like to come on Friday?", calls: [], wasInterrupted: false }
const turn: ModelRequest = {
  instructions: 'Say: "Would you like to come on Friday?"',
  messages: [greeting, { _tag: "User", text: said }],
  tools: [agreed, declined].map(({ condition, tool }) => ({ name: tool, description: condition, parameters })),
  purpose: "turn",
  node: {
    id: "n1",
    type: "agentNode",
    name: "Invitation",
    prompt: 'Say: "Would you like to come on Friday?"',
    edges: [agreed, declined],
    variables: [{ name: "is_coming", type: "boolean", prompt: "Whether they come on Friday" }],
    misunderstood: 0
  }
}
const saving: ModelRequest = {
  ...turn,
  purpose: "extract",
  tools: [
    {
      name: "save",
      description: "Saves variables",
      parameters: { type: "object", properties: { is_coming: { type: ["boolean", "null"] } }, required: [] }
    }
  ]
}

const withModel = <A>({ provider, world }: Scene, use: (model: LanguageModel) => Effect.Effect<A>, config = world.config): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(Effect.orDie(provider.open(config, { egress: world.egress })), use)))

const answerOf = (model: LanguageModel, request: ModelRequest): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const parts: Array<ModelPart> = []
    return model.answer(request).pipe(
      Stream.runForEach((part) => Effect.sync(() => void parts.push(part))),
      Effect.result,
      Effect.map((result) => ({ parts, error: Result.isFailure(result) ? result.failure : undefined }))
    )
  })

const ask = (scene: Scene, request: ModelRequest, scripted: ScriptedAnswer): Promise<Answered> => {
  scene.world.script?.(scripted)
  return withModel(scene, (model) => answerOf(model, request))
}

const callsIn = ({ parts }: Answered): ReadonlyArray<ModelToolCall> =>
  parts.flatMap((part) => (part._tag === "ToolCall" ? [part.call] : []))
const agreement: ScriptedAnswer = { call: { name: "agrees", arguments: {} } }

const isWellFormed = (answer: Answered): void => {
  const { error, parts } = answer
  demand(error === undefined, "an answer", () => inWords(error), "the call would continue without one")
  const ends = parts.filter(({ _tag }) => _tag === "Finished").length
  const isLast = parts.at(-1)?._tag === "Finished"
  demand(
    ends === 1 && isLast,
    "one Finished, as the last part",
    () => inWords(parts.map(({ _tag }) => _tag)),
    "the engine waits for it, and ignores what follows it"
  )
  const blank = parts.find((part) => part._tag === "Text" && part.text.trim() === "")
  demand(blank === undefined, "no text of whitespace alone", () => inWords(blank), "the call would wait for speech that never comes")
  const wrong = callsIn(answer).find((call) => call.id === "" || !isObject(call.arguments))
  demand(wrong === undefined, "calls with ids and objects as arguments", () => inWords(wrong), "the engine runs the calls as they are")
}

/** One thing that every language model must do. */
interface Rule {
  readonly name: string
  readonly holds: (scene: Scene) => Promise<void>
}

const rules: ReadonlyArray<Rule> = [
  {
    name: "turn: it speaks first",
    holds: async (scene) => {
      const answer = await ask(scene, { ...turn, messages: [] }, { text: "Would you like to come on Friday?" })
      isWellFormed(answer)
      demand(
        answer.parts.some(({ _tag }) => _tag === "Text"),
        "text",
        () => inWords(answer.parts),
        "a call that begins with silence is hung up"
      )
    }
  },
  {
    name: "turn: it calls the tool of an edge",
    holds: async (scene) => {
      const answer = await ask(scene, turn, agreement)
      isWellFormed(answer)
      const names = callsIn(answer).map(({ name }) => name)
      demand(names.join() === "agrees", "a call of agrees", () => inWords(names), "the conversation follows the calls")
      const end = answer.parts.at(-1)
      demand(
        end?._tag === "Finished" && end.why === "tool_calls",
        "tool calls as the reason for the end",
        () => inWords(end),
        "the engine would wait for the callee"
      )
    }
  },
  {
    name: "turn: a call and its result are part of the conversation, and the next call has another id",
    holds: async (scene) => {
      const [call, ...others] = callsIn(await ask(scene, turn, agreement))
      demand(call !== undefined && others.length === 0, "one call", () => inWords(others.length + 1), "it answers the callee")
      if (call === undefined) return
      const result: ModelMessage = { _tag: "ToolResult", callId: call.id, name: call.name, result: { status: "done" } }
      const messages: ReadonlyArray<ModelMessage> = [
        ...turn.messages,
        { _tag: "Assistant", text: "", calls: [call], wasInterrupted: false },
        result,
        greeting,
        { _tag: "User", text: said }
      ]
      const answer = await ask(scene, { ...turn, messages }, agreement)
      isWellFormed(answer)
      const again = callsIn(answer).map(({ id }) => id)
      demand(!again.includes(call.id), "a unique id for each call", () => inWords(again), "the id matches a result to its call")
    }
  },
  {
    name: "turn: without tools it calls none",
    holds: async (scene) => {
      const farewell: ModelRequest = { ...turn, tools: [], purpose: "farewell" }
      const answer = await ask(scene, farewell, { text: "Goodbye." })
      isWellFormed(answer)
      demand(callsIn(answer).length === 0, "no call", () => inWords(callsIn(answer)), "there are no tools to call")
    }
  },
  {
    name: "extraction: it returns the variables as one call",
    holds: async (scene) => {
      const answer = await ask(scene, saving, { call: { name: "save", arguments: { is_coming: true } } })
      isWellFormed(answer)
      const calls = callsIn(answer)
      const isRight = calls.length === 1 && calls[0]?.name === "save" && calls[0].arguments["is_coming"] === true
      demand(isRight, "one call of save with is_coming true", () => inWords(calls), "the results of the call are stored from it")
    }
  },
  ...serviceRules<Scene>("model", said, (scene, config) => withModel(scene, (model) => answerOf(model, turn), config)),
  {
    name: "interruption: it ends the work at the service",
    holds: async (scene) => {
      const { givenUp, script } = scene.world
      if (givenUp === undefined || script === undefined) throw new NotAsked("the model has no service")
      script({ text: "One", hangs: true })
      await withModel(scene, (model) =>
        Effect.gen(function* () {
          const first = Promise.withResolvers<void>()
          const listening = yield* Effect.forkChild(
            Effect.ignore(Stream.runForEach(model.answer(turn), () => Effect.sync(() => first.resolve())))
          )
          yield* Effect.promise(() => first.promise)
          yield* Fiber.interrupt(listening)
          yield* Effect.promise(givenUp)
        })
      )
    }
  }
]

export const languageModelConformance = (provider: LanguageModelProvider, openWorld: () => Promise<ModelWorld>): ReadonlyArray<Case> =>
  rules.map(({ holds, name }) => ({
    name,
    run: async () => {
      const world = await openWorld()
      return verdictOf(
        () => holds({ provider, world }),
        () => world.close()
      )
    }
  }))
