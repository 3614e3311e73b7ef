/** The requests that tests of language models make of an emulated service, and what they read from the answers. */
import { Effect, Stream } from "effect"
import type { Test } from "tap"
import type { Egress } from "#core/egress/Egress.ts"
import type { LanguageModel, ModelError, ModelMessage, ModelPart, ModelRequest, ModelToolCall } from "#core/model/LanguageModel.ts"
import type { LanguageModelProvider } from "#core/model/ModelProvider.ts"
import type { ModelEmulator, RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"

export const aRequest: ModelRequest = {
  instructions: "Be brief.",
  messages: [{ _tag: "User", text: "Hello" }],
  tools: [
    { name: "booked", description: "They book.", parameters: { type: "object", properties: {} } },
    { name: "refused", description: "They refuse.", parameters: { type: "object", properties: {} } }
  ],
  purpose: "turn",
  node: { id: "1", type: "agentNode", name: "Ask", prompt: "Ask.", edges: [], variables: [], misunderstood: 0 }
}

/** A request for variables. */
export const extraction: ModelRequest = {
  ...aRequest,
  purpose: "extract",
  tools: [{ name: "save", description: "", parameters: { type: "object", properties: { day: { type: "string" } } } }]
}

export const heard = (text: string): ModelMessage => ({ _tag: "User", text })
export const said = (text: string, ...calls: ReadonlyArray<ModelToolCall>): ModelMessage => ({
  _tag: "Assistant",
  text,
  calls,
  wasInterrupted: false
})
export const booked: ModelToolCall = { id: "c1", name: "booked", arguments: { day: "Friday" } }
export const done: ModelMessage = { _tag: "ToolResult", callId: "c1", name: "booked", result: { status: "done" } }

export const open = webhooksOf({ privateWebhooks: true })
/** In milliseconds: more than a busy machine needs. */
const generous = { firstToken: 120_000, betweenTokens: 120_000, total: 240_000 }

export interface ModelScene {
  readonly config?: Readonly<Record<string, unknown>>
  readonly egress?: Egress
  readonly limits?: Partial<typeof generous>
}

/** How a service is emulated, which client asks it, and the configuration that the client needs at least. */
interface Service<Answer extends object, Body, Emulator> {
  readonly start: () => Promise<Emulator & ModelEmulator<Answer, Body>>
  readonly providerWith: (limits: typeof generous) => LanguageModelProvider
  readonly configOf: (emulator: Emulator) => Readonly<Record<string, unknown>>
}
export const modelOf = <Answer extends object, Body, Emulator>({ configOf, providerWith, start }: Service<Answer, Body, Emulator>) => {
  /** Runs `use` with a model and its emulator. */
  const withModel = async <A>(
    t: Test,
    { config, egress = open, limits }: ModelScene,
    use: (model: LanguageModel, emulator: Emulator & ModelEmulator<Answer, Body>) => Effect.Effect<A>
  ): Promise<A> => {
    const emulator = await start()
    t.teardown(() => emulator.stop())
    const opened = providerWith({ ...generous, ...limits }).open({ ...configOf(emulator), ...config }, { egress })
    return runLive(Effect.flatMap(opened, (model) => use(model, emulator)).pipe(Effect.orDie))
  }
  const answerTo = (t: Test, reply: Answer | RawReply, request: ModelRequest = aRequest, scene: ModelScene = {}) =>
    withModel(t, scene, (model, emulator) => {
      emulator.script(reply)
      return Effect.map(answered(model, request), (answer) => ({ ...answer, asked: emulator.requests }))
    })
  return { answerTo, withModel }
}

/** The outcome of a request: its parts, and the error that ended it. */
export interface Answered {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error: ModelError | undefined
}

export const answered = (model: LanguageModel, request: ModelRequest): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const parts: Array<ModelPart> = []
    return model.answer(request).pipe(
      Stream.runForEach((part) => Effect.sync(() => void parts.push(part))),
      Effect.match({ onFailure: (error) => ({ parts, error }), onSuccess: () => ({ parts, error: undefined }) })
    )
  })

export const textOf = (parts: ReadonlyArray<ModelPart>): string => parts.map((part) => (part._tag === "Text" ? part.text : "")).join("")
export const callsOf = (parts: ReadonlyArray<ModelPart>) =>
  parts.flatMap((part) => (part._tag === "ToolCall" ? [[part.call.name, part.call.arguments] as const] : []))
export const idsOf = (parts: ReadonlyArray<ModelPart>) => parts.flatMap((part) => (part._tag === "ToolCall" ? [part.call.id] : []))

/** The answer as the conversation has it later, with a result for each call. */
export const remembered = (parts: ReadonlyArray<ModelPart>): ReadonlyArray<ModelMessage> => {
  const calls = parts.flatMap((part) => (part._tag === "ToolCall" ? [part.call] : []))
  const last = parts.at(-1)
  const members = last?._tag === "Finished" ? last.members : undefined
  return [
    { _tag: "Assistant", text: textOf(parts), calls, wasInterrupted: false, ...(members === undefined ? {} : { members }) },
    ...calls.map(({ id, name }): ModelMessage => ({ _tag: "ToolResult", callId: id, name, result: {} }))
  ]
}
