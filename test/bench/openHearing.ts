/**
 * What recognizers understand of recordings of people over a phone line, whatever they say: Moonshine, with each of its models, and PocketSphinx beside it.
 * The recordings are Debian's. With `--quick`, a tenth of the prompts.
 */
import { Effect, type Scope } from "effect"
import { grammarOf } from "#adapters/voice/embedded/grammar.ts"
import { moonshine } from "#adapters/voice/moonshine/moonshine.ts"
import type { MoonshineSize } from "#adapters/voice/moonshine/MoonshineFiles.ts"
import { makeTranscriber } from "#adapters/voice/moonshine/Transcriber.ts"
import { pocketsphinx } from "#adapters/voice/pocketsphinx/pocketsphinx.ts"
import type { Recognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { frameSize } from "#core/audio/Mulaw.ts"
import type { RecognizerEvent, RecognizerHints, SpeechToText } from "#core/model/SpeechToText.ts"
import { openDictation } from "#test/support/hearing/dictation.ts"
import { askingNodes } from "#test/support/hearing/nodes.ts"
import { heardIn, lineNoise, open, overPhone, plainWords, withNoise, wrongWords } from "#test/support/hearing/openTrial.ts"
import { moonshineModel } from "#test/support/moonshine.ts"
import { people, type Recorded, shortPrompts } from "#test/support/recordings.ts"
import { samplesOf } from "#test/support/sound.ts"
import { until } from "#test/support/until.ts"
import type { Figure } from "./Figure.ts"

type Ear = (samples: Int16Array, hints: RecognizerHints) => Effect.Effect<string>

const earOf =
  (recognizer: SpeechToText): Ear =>
  (samples, hints) =>
    heardIn(recognizer, hints, samples)

/** Moonshine with one of its models. */
export const moonshineOf = (size: MoonshineSize): Effect.Effect<SpeechToText, never, Scope.Scope> =>
  Effect.gen(function* () {
    const model = moonshineModel(size)
    const models = () => ({ careful: model, quick: undefined })
    const transcriber = yield* makeTranscriber({ models, atOnce: 1, mostWaiting: 100, timeout: "5 minutes", idle: "1 hour" })
    return moonshine({ transcriber, model: model.name, languages: ["en"], unready: () => undefined })
  })

const twentyDecibels = 0.1

const shareWrong = (ear: Ear, recorded: ReadonlyArray<Recorded>, line: (samples: Int16Array) => Int16Array) =>
  Effect.gen(function* () {
    let [words, wrong] = [0, 0]
    for (const { samples, text } of recorded) {
      const said = plainWords(text)
      words += said.length
      wrong += wrongWords(said, plainWords(yield* ear(line(samples), open)))
    }
    return (100 * wrong) / Math.max(1, words)
  })

const shareRight = (ear: Ear, prompts: ReadonlyArray<Recorded & { readonly hints: RecognizerHints }>) =>
  Effect.gen(function* () {
    let right = 0
    for (const { hints, samples, text } of prompts) {
      const heard = plainWords(yield* ear(overPhone(samples), hints))
      // "Call waiting" may be written as one word.
      if (heard.join("") === plainWords(text).join("")) right++
    }
    return (100 * right) / Math.max(1, prompts.length)
  })

const months = "january february march april may june july august september october november december".split(" ")
const inGrammar = (node: "date" | "guests"): RecognizerHints => ({ ...open, grammar: grammarOf(askingNodes[node].node) })
/** What the node expects that a prompt may be an answer to. */
const expectedBy = (name: string): RecognizerHints | undefined => {
  if (/^digits\/\d+$/.test(name)) return inGrammar("guests")
  if (name.startsWith("digits/day-")) return inGrammar("date")
  return name.startsWith("digits/mon-") ? { ...open, phrases: months } : undefined
}

const noiseMillis = 120_000
/** Levels of a quiet and of a bad line. */
const noiseLevels = { steady: 200, bursts: 2000 }
/** Every two seconds the noise is loud for a moment, which no gate takes for a quiet line. */
const noisyLine = (): Int16Array => {
  const steady = lineNoise(noiseMillis, noiseLevels.steady)
  const loud = lineNoise(noiseMillis, noiseLevels.bursts)
  const isBurst = (index: number) => index >= steady.length / 2 && index % 16_000 < 2400
  return samplesOf(steady.map((sample, index) => (isBurst(index) ? (loud[index] ?? 0) : sample)))
}

/** How many words are heard in two minutes of noise, half of it with bursts, by a recognizer that is asked every half second. */
const inventedWords = (recognizer: SpeechToText): Effect.Effect<number> =>
  Effect.scoped(
    Effect.gen(function* () {
      const events: Array<RecognizerEvent> = []
      const session = yield* Effect.orDie(recognizer.open(open, (event) => void events.push(event)))
      const audio = noisyLine()
      let asked = 0
      const answered = () => events.filter((event) => event._tag === "Final" && event.isForced).length
      for (let from = 0; from + frameSize <= audio.length; from += frameSize) {
        session.write(audio.subarray(from, from + frameSize))
        if ((from / frameSize) % 25 !== 24) continue
        session.finalize()
        asked++
        yield* Effect.promise(() => until("answer", () => (answered() === asked ? true : undefined)))
      }
      return events.flatMap((event) => (event._tag === "Final" || event._tag === "Partial" ? plainWords(event.text) : [])).length
    })
  )

/** The words wrong of Moonshine's models, with PocketSphinx' dictation as the control. */
const ofPeople = Effect.fnUntraced(function* (ears: ReadonlyArray<readonly [MoonshineSize, Ear]>) {
  const recorded = people()
  const dictated = openDictation()
  const dictation: Ear = (samples) => Effect.sync(() => dictated(samples))
  const lines = [
    { line: "phone", of: overPhone, goals: { tiny: 9, base: 9 } },
    {
      line: "phone, 20 dB noise",
      of: (samples: Int16Array) => withNoise(overPhone(samples), twentyDecibels),
      goals: { tiny: 15, base: 15 }
    }
  ]
  const figures: Array<Figure> = []
  for (const { goals, line, of } of lines) {
    const control = yield* shareWrong(dictation, recorded, of)
    for (const [size, ear] of ears) {
      const value = yield* shareWrong(ear, recorded, of)
      figures.push({ name: `hearing, ${line}, words of people wrong, ${size}`, value, unit: "%", control, goal: { atMost: goals[size] } })
    }
  }
  return figures
})

/** Short answers, first in open conversation, then where a node expects them, with PocketSphinx as the control. */
const ofPrompts = Effect.fnUntraced(function* (ears: ReadonlyArray<readonly [MoonshineSize, Ear]>, grammar: Ear, share: number) {
  const all = shortPrompts().filter((_, index) => index % share === 0)
  const anything = all.map((prompt) => ({ ...prompt, hints: open }))
  const expected = all.flatMap((prompt) => {
    const hints = expectedBy(prompt.name)
    return hints === undefined ? [] : [{ ...prompt, hints }]
  })
  const control = yield* shareRight(grammar, expected)
  const figures: Array<Figure> = [{ name: "hearing, phone, prompts of one or two words", value: all.length, unit: "" }]
  for (const [size, ear] of ears) {
    const opened = yield* shareRight(ear, anything)
    const value = yield* shareRight(ear, expected)
    const [openGoal, goal] = size === "base" ? [{ goal: { atLeast: 88 } }, { goal: { atLeast: 97 } }] : [{}, {}]
    figures.push(
      { name: `hearing, phone, prompts of one or two words right, ${size}`, value: opened, unit: "%", ...openGoal },
      { name: `hearing, phone, expected numbers, days and months right, ${size}`, value, unit: "%", control, ...goal }
    )
  }
  return figures
})

export const openFigures = Effect.fnUntraced(function* (recognition: Recognition, share: number) {
  const [tiny, base] = [yield* moonshineOf("tiny"), yield* moonshineOf("base")]
  const ears = [
    ["tiny", earOf(tiny)],
    ["base", earOf(base)]
  ] as const
  const heard = [...(yield* ofPeople(ears)), ...(yield* ofPrompts(ears, earOf(pocketsphinx(recognition)), share))]
  const invented = (yield* inventedWords(tiny)) + (yield* inventedWords(base))
  return [...heard, { name: "hearing, words heard in twice two minutes of noise", value: invented, unit: "", goal: { atMost: 0 } }]
})
