/** How well callees are understood, with a margin, on a sample of what `npm run bench -- hearing` measures. */
import { Effect } from "effect"
import t from "tap"
import { pocketsphinx } from "#adapters/voice/pocketsphinx/pocketsphinx.ts"
import { answers } from "#test/support/hearing/answers.ts"
import { type AskingNodeName, askingNodes } from "#test/support/hearing/nodes.ts"
import { isRight, isTaken, makeEar, speakers, understoodIn } from "#test/support/hearing/trial.ts"
import { unrelatedHeldOut, unrelatedTuning } from "#test/support/hearing/unrelated.ts"
import { heard, recognizing } from "./recognitionScene.ts"

const nodeNames = Object.keys(askingNodes) as ReadonlyArray<AskingNodeName>
const unrelated = [...unrelatedTuning, ...unrelatedHeldOut]
const percent = (all: ReadonlyArray<boolean>): number => (100 * all.filter((one) => one).length) / all.length

t.test("given answers in writing", async (t) => {
  const missed = answers.filter((answer) => !isRight(answer, understoodIn(answer.at, answer.text)))
  t.ok(
    missed.length <= 0.03 * answers.length,
    `then at least 97 % of them are understood; not understood: ${missed.map(({ text }) => text).join("; ")}`
  )
})

t.test("given sentences that answer nothing, in writing", async (t) => {
  const taken = unrelated.flatMap((text) => nodeNames.map((at) => isTaken(at, understoodIn(at, text))))
  t.ok(taken.length >= 5000, "given enough of them")
  t.ok(percent(taken) <= 2, `then few are taken for an answer: ${percent(taken).toFixed(1)} %`)
})

/** A percentage. On the whole set it is ninety-five. */
const leastUnderstood = 80
const mostTaken = 3
/** Every 17th answer is taken, and each is spoken by the next voice, which covers each node and each voice. */
const answerStep = 17
const unrelatedStep = 17

heard("given the same over a phone line", function* (t) {
  const ear = makeEar(pocketsphinx(yield* recognizing()))
  const spoken = answers
    .filter((_, index) => index % answerStep === 0)
    .map((answer, index) =>
      Effect.map(ear.hear("clean", speakers[index % speakers.length] ?? "rms", answer.at, answer.text), (understood) =>
        isRight(answer, understood)
      )
    )
  const right = percent(yield* Effect.all(spoken))
  t.ok(right >= leastUnderstood, `then most answers are understood: ${right.toFixed(0)} %`)
  const others = unrelated
    .filter((_, index) => index % unrelatedStep === 0)
    .map((text, index) => {
      const at = nodeNames[index % nodeNames.length] ?? "friday"
      return Effect.map(ear.hear("clean", speakers[index % speakers.length] ?? "rms", at, text), (understood) => isTaken(at, understood))
    })
  const taken = (yield* Effect.all(others)).filter((one) => one).length
  t.ok(taken <= mostTaken, `then hardly any other sentence is taken for one: ${taken} of ${others.length}`)
})

heard("given answers that sound like others", function* (t) {
  const ear = makeEar(pocketsphinx(yield* recognizing()))
  const zero = yield* ear.hear("clean", "awb", "account", "seven seven zero")
  t.equal(zero.value, "770", "then no `oh` is heard at the end of a zero")
  const guests = yield* ear.hear("clean", "rms", "guests", "eight guests")
  t.equal(guests.value, 8, "nor `a two` in an eight")
  const um = yield* ear.hear("clean", "rms", "friday", "um")
  t.notOk(isTaken("friday", um), `nor an answer in an um: ${um.reply}`)
})
