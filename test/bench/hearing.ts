/**
 * What the recognizers of this machine and the built-in model understand of callees: answers in the nodes of the templates and of every kind, spoken by three
 * synthetic voices over a phone line, and sentences that answer nothing, each in one of these nodes, with the node's own grammar. The goals are for the half
 * of the answers and the sentences that nothing was tuned on; the control is the other half. Then what people say, see `openHearing.ts`. With `--quick`, a
 * tenth of them.
 */
import { Effect } from "effect"
import { pocketsphinx as sphinxOf } from "#adapters/voice/pocketsphinx/pocketsphinx.ts"
import { makeRecognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import type { SpeechToText } from "#core/model/SpeechToText.ts"
import { type Answer, answers, type Half } from "#test/support/hearing/answers.ts"
import { type AskingNodeName, askingNodes } from "#test/support/hearing/nodes.ts"
import { type Ear, isRight, isTaken, type Line, makeEar, speakers, understoodIn } from "#test/support/hearing/trial.ts"
import { unrelatedHeldOut, unrelatedTuning } from "#test/support/hearing/unrelated.ts"
import { moonshineUnavailable } from "#test/support/moonshine.ts"
import { pocketsphinx, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { recordingsUnavailable } from "#test/support/recordings.ts"
import type { Benchmark } from "./Benchmark.ts"
import type { Figure } from "./Figure.ts"
import { moonshineOf, openFigures } from "./openHearing.ts"

const nodeNames = Object.keys(askingNodes) as ReadonlyArray<AskingNodeName>
/** Puts each sentence into one node, in one voice. */
const nodeOf = (index: number): AskingNodeName => nodeNames[index % nodeNames.length] ?? "friday"
const unrelated: { readonly [Name in Half]: ReadonlyArray<string> } = { tuning: unrelatedTuning, "held out": unrelatedHeldOut }

/** Which recognizer listens, and on what line. */
interface Listening {
  readonly line: Line
  readonly name: string
}

interface Judged {
  readonly kind: "answer" | "unrelated"
  readonly voice: string
  readonly isRight: boolean
  /** Whether it leads somewhere, or is to be confirmed. */
  readonly isTaken: boolean
}

const judgeAnswer = (ear: Ear, line: Line, voice: (typeof speakers)[number], answer: Answer): Effect.Effect<Judged> =>
  Effect.map(ear.hear(line, voice, answer.at, answer.text), (understood) => ({
    kind: "answer",
    voice,
    isRight: isRight(answer, understood),
    isTaken: isTaken(answer.at, understood)
  }))
const judgeUnrelated = (ear: Ear, line: Line, text: string, index: number): Effect.Effect<Judged> => {
  const voice = speakers[index % speakers.length] ?? "rms"
  return Effect.map(ear.hear(line, voice, nodeOf(index), text), (understood) => ({
    kind: "unrelated",
    voice,
    isRight: false,
    isTaken: isTaken(nodeOf(index), understood)
  }))
}

const heardOn = (ear: Ear, line: Line, half: Half, share: number): Effect.Effect<ReadonlyArray<Judged>> => {
  const isIn = (_: unknown, index: number) => index % share === 0
  const spoken = answers
    .filter((answer) => answer.half === half)
    .filter(isIn)
    .flatMap((answer) => speakers.map((voice) => judgeAnswer(ear, line, voice, answer)))
  const others = unrelated[half].map((text, index) => judgeUnrelated(ear, line, text, index)).filter(isIn)
  return Effect.all([...spoken, ...others], { concurrency: 2 })
}

const percent = (judged: ReadonlyArray<Judged>, isSo: (one: Judged) => boolean): number =>
  (100 * judged.filter(isSo).length) / Math.max(1, judged.length)

const figuresOf = (
  { line, name: recognizer }: Listening,
  tuning: ReadonlyArray<Judged>,
  heldOut: ReadonlyArray<Judged>
): ReadonlyArray<Figure> => {
  const figure = (name: string, isIn: (one: Judged) => boolean, isSo: (one: Judged) => boolean, goal?: Figure["goal"]): Figure => ({
    name: `hearing, ${recognizer}, ${line}, ${name}`,
    value: percent(heldOut.filter(isIn), isSo),
    unit: "%",
    control: percent(tuning.filter(isIn), isSo),
    ...(goal === undefined || line !== "clean" || recognizer !== "pocketsphinx" ? {} : { goal })
  })
  const isAnswer = ({ kind }: Judged) => kind === "answer"
  return [
    figure("answers understood", isAnswer, ({ isRight }) => isRight, { atLeast: 97 }),
    ...speakers.map((speaker) =>
      figure(
        `answers understood, ${speaker}`,
        (one) => isAnswer(one) && one.voice === speaker,
        ({ isRight }) => isRight
      )
    ),
    figure("answers misunderstood", isAnswer, (one) => one.isTaken && !one.isRight),
    figure(
      "unrelated sentences taken for an answer",
      (one) => !isAnswer(one),
      ({ isTaken }) => isTaken,
      { atMost: 5 }
    )
  ]
}

/** Without speech recognition: each unrelated sentence in every node. */
const inText = (): ReadonlyArray<Figure> => {
  const shareOf = (all: ReadonlyArray<boolean>) => (100 * all.filter((one) => one).length) / Math.max(1, all.length)
  const right = (half: Half) =>
    shareOf(answers.filter((one) => one.half === half).map((one) => isRight(one, understoodIn(one.at, one.text))))
  const taken = (half: Half) => shareOf(unrelated[half].flatMap((text) => nodeNames.map((at) => isTaken(at, understoodIn(at, text)))))
  return [
    {
      name: "hearing, in writing, answers understood",
      value: right("held out"),
      unit: "%",
      control: right("tuning"),
      goal: { atLeast: 97 }
    },
    {
      name: "hearing, in writing, unrelated sentences taken for an answer",
      value: taken("held out"),
      unit: "%",
      control: taken("tuning"),
      goal: { atMost: 5 }
    }
  ]
}

export const hearing: Benchmark = {
  name: "hearing",
  run: ({ quick }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const reason = yield* Effect.promise(pocketsphinxUnavailable)
        if (reason !== undefined) return yield* Effect.die(new Error(reason))
        const missing = (yield* Effect.promise(moonshineUnavailable)) ?? (yield* Effect.promise(recordingsUnavailable))
        if (missing !== undefined) return yield* Effect.die(new Error(missing))
        const recognition = yield* makeRecognition({
          files: pocketsphinx(),
          listening: 4,
          processes: 2,
          mostWaiting: 10,
          timeout: "5 minutes"
        })
        const share = quick ? 10 : 1
        const of = Effect.fnUntraced(function* (recognizer: SpeechToText, line: Line) {
          const ear = makeEar(recognizer)
          const tuning = yield* heardOn(ear, line, "tuning", share)
          return figuresOf({ line, name: recognizer.provider }, tuning, yield* heardOn(ear, line, "held out", share))
        })
        const sphinx = sphinxOf(recognition)
        const heard = [
          ...(yield* of(sphinx, "clean")),
          ...(yield* of(sphinx, "20 dB noise")),
          ...(yield* of(yield* moonshineOf("base"), "clean"))
        ]
        const count = answers.length * speakers.length
        return [
          { name: "hearing, spoken answers in both halves", value: count, unit: "", goal: { atLeast: 500 } },
          {
            name: "hearing, unrelated sentences in both halves",
            value: unrelatedTuning.length + unrelatedHeldOut.length,
            unit: "",
            goal: { atLeast: 300 }
          },
          ...heard,
          ...inText(),
          ...(yield* openFigures(recognition, share))
        ]
      })
    )
}
