/** The conformance suite of voices: the engine's voices pass it, and voices that break its rules fail. */
import { Effect, Layer, Stream } from "effect"
import t from "tap"
import { voiceConformance, type VoiceWorld } from "#adapters/conformance/conformance.ts"
import { fliteProvider } from "#adapters/voice/flite/flite.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { TextToSpeech } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { webhooksOf } from "#test/support/egress.ts"

const egress = webhooksOf({ privateWebhooks: true })
const offline = async (): Promise<VoiceWorld> => ({ config: {}, egress, close: async () => {} })

t.test("Flite", async (t) => {
  const exceptions = ["words", "parts", "error", "egress", "interruption"]
  const suite = Effect.gen(function* () {
    for (const { name, run } of voiceConformance(fliteProvider(yield* FliteVoices), offline)) {
      const { notAsked } = yield* Effect.promise(run)
      t.equal(notAsked !== undefined, exceptions.includes(name.split(":")[0] ?? ""), name)
    }
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(suite, Layer.fresh(FliteVoices.layer({ workers: 1 })))))
})

const tenth = 800
/** A voice that breaks no rule: a tenth of a second for each character. */
const usual: TextToSpeech = {
  provider: "p",
  voice: "v",
  format: { encoding: "mulaw", rate: 8000 },
  isCacheable: true,
  ownsQueue: false,
  atOnce: 1,
  speak: (text) => Stream.succeed(new Uint8Array(text.length * tenth))
}
const failuresOf = async (broken: Partial<TextToSpeech>, scripted: Partial<VoiceWorld> = {}) => {
  const manifest = { contract: 1, kind: "tts", provider: "p", title: "P", description: "" } as const
  const provider = defineTextToSpeech({ manifest, fields: {}, speaker: () => ({ ...usual, ...broken }) })
  const names: Array<string> = []
  const openWorld = async () => ({ ...(await offline()), ...scripted })
  for (const { name, run } of voiceConformance(provider, openWorld)) await run().catch(() => names.push(name.split(":")[0] ?? ""))
  return names
}
const failing = (reason: ModelError["reason"], message: string) => () => Stream.fail(new ModelError({ reason, isRetryable: true, message }))

t.test("a voice that breaks a rule fails", async (t) => {
  let count = 0
  t.strictSame(await failuresOf({}), [], "but not the one that breaks none")
  t.strictSame(await failuresOf({ speak: () => Stream.empty }), ["speech", "speech"])
  t.strictSame(await failuresOf({ speak: () => Stream.succeed(new Uint8Array(10_000)) }), ["speech", "speech"])
  t.strictSame(await failuresOf({ format: { encoding: "pcm16", rate: 48_000 } }), ["speech", "speech"], "of another format")
  t.strictSame(await failuresOf({ speak: (text) => Stream.succeed(new Uint8Array(text.length * tenth + 160 * count++)) }), ["speech"])
  t.strictSame(await failuresOf({ atOnce: 0 }), ["format"])
  const told = (word: string, untilMillis: number) => (text: string) =>
    Stream.make(new Uint8Array(text.length * tenth), { word, untilMillis })
  t.strictSame(await failuresOf({ speak: told("Hello", 100) }), ["words"], "that tells words that are not in the text")
  const script = () => {}
  const hidden = { api_key: "key-of-nobody-else" }
  t.strictSame(
    await failuresOf({}, { script }),
    ["error", "egress"],
    "that takes incomplete speech for the whole, and connects where it may not"
  )
  t.strictSame(
    await failuresOf({ speak: failing("auth", "no key-of-nobody-else") }, { wrongConfig: hidden }),
    ["speech", "speech", "error"],
    "that reveals its key"
  )
})
