/** The embedded voices: the same text spoken by each of them, through one service and one cache. */
import { Effect, Layer } from "effect"
import t from "tap"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { fliteVoices } from "#core/model/VoiceServices.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { fliteLayer } from "#test/support/flite.ts"
import { Tts } from "#runtime/voice/Tts.ts"

t.test(
  "given a text that each voice has spoken, when it is spoken again, then each has its own speech, and the default voice is one of them",
  async (t) => {
    const speak = Effect.gen(function* () {
      const tts = yield* Tts
      const { speaker } = yield* FliteVoices
      const byVoice = Effect.forEach(fliteVoices, (voice) => tts.speak("Good morning.", undefined, { speech: speaker(voice), key: voice }))
      return { first: yield* byVoice, second: yield* byVoice, usual: yield* tts.speak("Good morning.") }
    })
    const { first, second, usual } = await Effect.runPromise(Effect.scoped(Effect.provide(speak, Layer.fresh(fliteLayer({ workers: 1 })))))
    t.equal(new Set(first.map((speech) => Buffer.from(speech).toString("base64"))).size, fliteVoices.length)
    for (const [index, speech] of first.entries()) {
      t.ok(speech.length > 2000, `by ${fliteVoices[index]}`)
      t.equal(second[index], speech, "from the cache")
    }
    t.equal(usual, first[fliteVoices.indexOf("slt")])
  }
)

t.test(
  "given a text that begins with a sibilant, when it is spoken, then the callee hears it at once, however much the phone line filters out",
  async (t) => {
    const speak = Effect.gen(function* () {
      const tts = yield* Tts
      const { speaker } = yield* FliteVoices
      return yield* Effect.forEach(fliteVoices, (voice) =>
        tts.speak("Step two of the plan is a visit.", undefined, { speech: speaker(voice), key: voice })
      )
    })
    const spoken = await Effect.runPromise(Effect.scoped(Effect.provide(speak, Layer.fresh(fliteLayer({ workers: 1 })))))
    const louderThanTheLine = 200
    for (const [index, speech] of spoken.entries()) {
      const first = decode(speech).findIndex((sample) => Math.abs(sample) > louderThanTheLine)
      t.ok(first >= 0 && first <= 0.02 * sampleRate, `by ${fliteVoices[index]}, after ${(1000 * first) / sampleRate} ms`)
    }
  }
)
