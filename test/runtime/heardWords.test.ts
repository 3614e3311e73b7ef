/** What a callee who interrupts the agent has heard, if its voice tells when each word is spoken. */
import { Effect, Layer } from "effect"
import t from "tap"
import { cartesiaWith } from "#adapters/voice/cartesia/cartesia.ts"
import { usualServices } from "#adapters/services.ts"
import { elevenlabsWith } from "#adapters/voice/elevenlabs/elevenlabs.ts"
import { OrganizationId } from "#core/Id.ts"
import { voiceOf } from "#core/model/ChosenVoice.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { WordMarks } from "#core/voice/WordMarks.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { GrowingPiece } from "#runtime/voice/GrowingPiece.ts"
import { heardText } from "#runtime/voice/HeardText.ts"
import * as SpokenTts from "#runtime/voice/SpokenTts.ts"
import { VoiceEmulator } from "#test/emulators/voices/VoiceEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { planOf, text } from "#test/support/talk.ts"
import { toldTo } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { loudFrames, voiceIn } from "./callVoice.ts"

const { conversing } = await voiceIn(t)

/** The service may be as slow as the machine. */
const patient = { timeoutMillis: 600_000, stallMillis: 600_000, firstSoundMillis: 600_000 }
const tts = Layer.provide(SpokenTts.layer(patient), FliteVoices.layer({ workers: 1 }))

for (const provider of ["elevenlabs", "cartesia"])
  t.test(`given ${provider}, when the callee interrupts in a long pause, then exactly the words before it were heard`, async (t) => {
    const plan = planOf(definition({ greeting: "One moment — we have found your order in our house." }), { max_user_idle_timeout: 600 })
    const emulator = await new VoiceEmulator().listen()
    t.teardown(() => emulator.stop())
    const registry = Effect.runSync(
      Effect.provide(ServiceRegistry, ServiceRegistry.layerOf([elevenlabsWith(), cartesiaWith()], usualServices))
    )
    const settings = { provider, voice: "3faa81ae", api_key: emulator.key, base_url: emulator.origin }
    const voice = voiceOf(registry, OrganizationId.make(1), settings, { egress: webhooksOf({ privateWebhooks: true }) })
    const { kept, told } = await conversing(
      { plan, script: () => [text("Yes?")], voice: { voice } },
      function* (scene) {
        yield* scene.until("two seconds", () => loudFrames(scene) >= 100)
        yield* scene.says("Wait a minute, please.")
        yield* scene.until("answer", () => scene.requests.length > 0)
        const told = toldTo(scene.requests[0])
        yield* scene.session.finish
        return { told, kept: scene.kept() }
      },
      { tts }
    )
    t.strictSame(told, ["agent: One moment", "callee: Wait a minute, please."])
    t.match(kept.transcript, /assistant: One moment\n/)
  })

const sentence = "One, two (three) four."
type Told = readonly [word: string, untilMillis: number]
const marksOf = (words: ReadonlyArray<Told>) => {
  const known = new WordMarks(sentence)
  for (const [word, untilMillis] of words) known.push({ word, untilMillis })
  return known.marks
}

t.test("given words with their times, then what was heard ends with one of them; where they do not fit, it is estimated", async (t) => {
  /** What was heard of two seconds after each of these milliseconds. */
  const check = (words: ReadonlyArray<Told>, expected: ReadonlyArray<readonly [millis: number, heard: string]>) => {
    const piece = { text: sentence, bytes: 16_000, words: marksOf(words) }
    for (const [millis, heard] of expected) t.equal(heardText([piece], millis * 8), heard, `${millis} ms of ${words.join(" ")}`)
  }
  const exact = [
    [0, ""],
    [99, ""],
    [100, "One,"],
    [1700, "One,"],
    [1800, "One, two"],
    [1850, "One, two (three)"],
    [1900, sentence]
  ] as const
  const times = [100, 1800, 1850, 1900, 1950]
  const told = (...words: ReadonlyArray<string>) => words.map((word, at): Told => [word, times[at] ?? 0])
  check(told("One,", "two", "(three)", "four."), exact)
  check(told("One", "two", "three", "four", "five"), exact)

  const estimated = [
    [0, ""],
    [1000, "One, two"],
    [1700, "One, two (three)"],
    [2000, sentence]
  ] as const
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0])
    check(
      [
        ["One", time],
        ["two", 1800]
      ],
      estimated
    )
  check([], estimated)
  check(told("...", "six", "One"), estimated)
  check(told("", "x".repeat(5000), "One"), estimated)

  const estimatedAfterOne = [
    [99, ""],
    [100, "One,"],
    [1000, "One, two"],
    [1500, "One, two (three)"],
    [2000, sentence]
  ] as const
  check(told("One", "three", "two"), estimatedAfterOne)
  for (const time of [100, 50])
    check(
      [
        ["One", 100],
        ["two", time],
        ["three", 150]
      ],
      estimatedAfterOne
    )
})

t.test(
  "given speech that is still arriving, when all of it so far was played, then the words that have not come do not count",
  async (t) => {
    const piece = new GrowingPiece(sentence, marksOf([["One", 3000]]))
    piece.add(new Uint8Array(3100 * 8))
    t.equal(heardText([piece], 3100 * 8), "One,")
  }
)
