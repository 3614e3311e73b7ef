/** PocketSphinx as the recognizer of a call: frames in, texts out, with the pauses that callees make. */
import { Effect } from "effect"
import t from "tap"
import { leastScorePerFrame } from "#adapters/voice/pocketsphinx/Sphinx.ts"
import { makeUtterance } from "#adapters/shared/Utterance.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { after, framesOf, hiss, over } from "#test/support/sound.ts"
import { call, heard, pcm, quiet, recognizing } from "./recognitionScene.ts"

const english: RecognizerHints = { language: "en-US", keyterms: [], phrases: ["yes", "no", "no thank you", "call me back tomorrow"] }

const opened = (hints: RecognizerHints = english) => Effect.flatMap(recognizing(), (recognition) => call(recognition, hints))

heard("given an expected answer", function* (t) {
  const { answer, hears } = yield* opened()
  hears(quiet(2000), pcm("no thank you"), quiet(100))
  const [said] = yield* answer
  t.match(said, { _tag: "Final", text: "no thank you", isForced: true, isAnswer: true }, "then it is recognized")
  if (said?._tag !== "Final") return
  t.ok(said.fromMillis >= 2000 && said.fromMillis < 2500, `then it began after the quiet: ${said.fromMillis} ms`)
  t.ok(said.untilMillis > said.fromMillis && (said.confidence ?? 0) > 0.5)
  hears(quiet(500))
  t.match(yield* answer, [{ _tag: "Final", text: "", isForced: true, isAnswer: false }], "then the silence after it is nothing")
})

heard("given a pause in the middle", function* (t) {
  const { answer, hears, text } = yield* opened()
  hears(quiet(500), pcm("call me back"), quiet(300))
  const first = yield* answer
  t.match(first, [{ _tag: "Final", text: "", isUnclear: true }], "then half an answer is not understood")
  hears(pcm("tomorrow"), quiet(200))
  t.equal(yield* text, "call me back tomorrow", "but the whole is")
})

heard("given something else", function* (t) {
  const { answer, hears, session, text } = yield* opened()
  hears(quiet(500), pcm("the weather is nice today"), quiet(200))
  t.match(yield* answer, [{ text: "", isUnclear: true }], "then the answer says that somebody spoke")
  hears(quiet(3000), pcm("yes"), quiet(200))
  t.equal(yield* text, "yes", "then it does not spoil what is said after a while")
  session.hint({ ...english, phrases: ["seven", "eight"] })
  hears(quiet(1000), pcm("seven"), quiet(200))
  t.equal(yield* text, "seven", "then the next node expects something else")
  session.hint({ ...english, phrases: [] })
  hears(quiet(1000), pcm("seven"), quiet(200))
  t.match(yield* answer, [{ text: "", isUnclear: true }], "then without phrases nothing is understood")
})

t.test("given a noisy line", async (t) => {
  const heardIn = (noise: number) => {
    const utterance = makeUtterance()
    const sound = over(after(quiet(600), pcm("no thank you"), quiet(400)), hiss(3000, noise))
    for (const { samples } of framesOf(sound)) utterance.write(samples)
    return utterance.heard()?.overNoise ?? 0
  }
  t.ok(heardIn(1) > 35, "then a quiet line is distinguished from")
  t.ok(heardIn(300) < 25, "one with noise")
  t.ok(leastScorePerFrame(heardIn(300)) > leastScorePerFrame(heardIn(1)) + 5, "and the limit is stricter in noise")
  t.equal(leastScorePerFrame(60), leastScorePerFrame(40), "but not on quiet lines")
})

heard("given a grammar with numbers", function* (t) {
  const grammar =
    "#JSGF V1.0; grammar node; public <answer> = yes | no | [ for ] <number> [ people ]; " +
    "<number> = (twenty | thirty) [ <digit> ] | <digit>; <digit> = one | two | three | four | five;"
  const { hears, text } = yield* opened({ ...english, grammar })
  for (const said of ["twenty five", "for three people", "no"]) {
    hears(quiet(2000), pcm(said), quiet(200))
    t.equal(yield* text, said, `then "${said}" is understood word for word`)
  }
})
