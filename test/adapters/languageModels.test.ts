/** The conformance suite of language models: the built-in models pass it, and models that break its rules fail. */
import { Effect, Stream } from "effect"
import t from "tap"
import { languageModelConformance, type ModelWorld, type ScriptedAnswer } from "#adapters/conformance/conformance.ts"
import { anthropic } from "#adapters/voice/anthropic/anthropic.ts"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { google } from "#adapters/voice/google/google.ts"
import { openai } from "#adapters/voice/openai/openai.ts"
import type { ModelPart } from "#core/model/LanguageModel.ts"
import { defineLanguageModel, type LanguageModelProvider } from "#core/model/ModelProvider.ts"
import { AnthropicEmulator } from "#test/emulators/anthropic/AnthropicEmulator.ts"
import { begin, openText, type ScriptedMessage } from "#test/emulators/anthropic/messages.ts"
import { chunk as geminiChunk, event as geminiEvent, type ScriptedContent } from "#test/emulators/google/contents.ts"
import { GoogleEmulator } from "#test/emulators/google/GoogleEmulator.ts"
import { type Completion, chunk, event } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { ModelEmulator, RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"

const egress = webhooksOf({ privateWebhooks: true })
const offline = async (): Promise<ModelWorld> => ({ config: {}, egress, close: async () => {} })

const replyOf = ({ call, hangs = false, text }: ScriptedAnswer): Completion | RawReply => {
  if (hangs) return { pieces: [event(chunk({ content: text }))], ending: "hang" }
  return {
    ...(text === undefined ? {} : { text: [text] }),
    ...(call === undefined ? {} : { calls: [{ name: call.name, arguments: [JSON.stringify(call.arguments)] }] })
  }
}

const messageOf = ({ call, hangs = false, text }: ScriptedAnswer): ScriptedMessage | RawReply => {
  if (hangs) return { pieces: [begin(), ...openText(text ?? "")], ending: "hang" }
  return {
    ...(text === undefined ? {} : { text: [text] }),
    ...(call === undefined ? {} : { uses: [{ name: call.name, input: [JSON.stringify(call.arguments)] }] })
  }
}

const contentOf = ({ call, hangs = false, text }: ScriptedAnswer): ScriptedContent | RawReply => {
  if (hangs) return { pieces: [geminiEvent(geminiChunk([{ text }]))], ending: "hang" }
  return {
    ...(text === undefined ? {} : { text: [text] }),
    ...(call === undefined ? {} : { calls: [{ name: call.name, args: call.arguments, signature: "c2lnbmVk" }] })
  }
}

const apiKey = "the-right-key"
/** The world of a client at this emulator, which the configuration leads to. */
const worldOf = <Answer extends object, Body>(
  emulator: ModelEmulator<Answer, Body>,
  where: object,
  replyTo: (answer: ScriptedAnswer) => Answer | RawReply
): ModelWorld => ({
  config: { api_key: apiKey, ...where },
  egress,
  script: (answer) => emulator.script(replyTo(answer)),
  wrongConfig: { api_key: "a-wrong-key", ...where },
  givenUp: () => emulator.untilAbandoned(),
  close: () => emulator.stop()
})
const emulatedAnthropic = async () => {
  const emulator = await AnthropicEmulator.start({ apiKey })
  return worldOf(emulator, { base_url: emulator.origin, model: "emulated" }, messageOf)
}
const emulatedGoogle = async () => {
  const emulator = await GoogleEmulator.start({ apiKey })
  return worldOf(emulator, { base_url: emulator.origin }, contentOf)
}
const emulated = async () => {
  const emulator = await OpenAiEmulator.start({ apiKey })
  return worldOf(emulator, { base_url: emulator.url, model: "emulated" }, replyOf)
}

const providers: ReadonlyArray<readonly [LanguageModelProvider, () => Promise<ModelWorld>, ReadonlyArray<string>]> = [
  [anthropic, emulatedAnthropic, []],
  [embedded, offline, ["error", "egress", "interruption"]],
  [google, emulatedGoogle, []],
  [openai, emulated, []]
]
for (const [provider, openWorld, exceptions] of providers) {
  for (const { name, run } of languageModelConformance(provider, openWorld)) {
    t.test(`${provider.manifest.provider}, ${name}`, async (t) => {
      const { notAsked } = await run()
      t.equal(notAsked !== undefined, exceptions.includes(name.split(":")[0] ?? ""), notAsked ?? "it holds")
    })
  }
}

t.test("a model that breaks a rule fails", async (t) => {
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }
  const finished: ModelPart = { _tag: "Finished", why: "stop", usage }
  const text = (said: string): ModelPart => ({ _tag: "Text", text: said })
  const call = (id: string, name: string): ModelPart => ({ _tag: "ToolCall", call: { id, name, arguments: {} } })
  const failuresOf = async (...parts: ReadonlyArray<ModelPart>) => {
    const answer = () => Stream.fromIterable(parts)
    const provider = defineLanguageModel({ ...embedded, fields: {}, open: () => Effect.succeed({ provider: "p", model: "m", answer }) })
    const names: Array<string> = []
    for (const { name, run } of languageModelConformance(provider, offline)) await run().catch(() => names.push(name))
    return names
  }
  t.match(await failuresOf(text("Hello")), [/speaks first/, /tool of an edge/, /result/, /without tools/, /variables/], "without an end")
  t.match(await failuresOf(finished, text("Hello")), [/speaks first/], "with text after the end")
  t.match(await failuresOf(text(" "), finished), [/speaks first/], "with blank text")
  t.match(
    await failuresOf(text("Hello"), call("1", "agrees"), finished),
    [/tool of an edge/, /another id/, /without tools/, /variables/],
    "with the same id again"
  )
})
