/** PocketSphinx while callees speak: who has a decoder, until when, and what happens to those who have none or lose theirs. */
import { Effect } from "effect"
import { grammarOf } from "#adapters/voice/pocketsphinx/Grammar.ts"
import { encode, frameSize } from "#core/audio/Mulaw.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { after, framesOf, hiss } from "#test/support/sound.ts"
import { untilTrue } from "#test/support/until.ts"
import { call, heard, pcm, quiet, recognizing } from "./recognitionScene.ts"

const halves = (sound: Int16Array): readonly [Int16Array, Int16Array] => {
  const middle = Math.floor(sound.length / 2 / frameSize) * frameSize
  return [sound.subarray(0, middle), sound.subarray(middle)]
}
const phrases = ["yes", "no", "no thank you", "call me back tomorrow"]
const hints: RecognizerHints = { language: "en-US", keyterms: [], phrases }
const grammar = grammarOf(phrases) ?? ""

heard("given an utterance, however it is cut", function* (t) {
  const recognition = yield* recognizing()
  const audio = encode(pcm("call me back tomorrow"))
  const heardIn = (pieceSize: number) =>
    Effect.suspend(() => {
      const utterance = recognition.listen(grammar)
      if (utterance === undefined) return Effect.die("no decoder")
      for (let at = 0; at < audio.length; at += pieceSize) utterance.hear(audio.subarray(at, at + pieceSize))
      return utterance.answer
    })
  const replies = yield* Effect.all([audio.length, 800, 1001].map(heardIn), { concurrency: "unbounded" })
  t.match(replies[0], { hypothesis: { text: "call me back tomorrow" }, unknown: [] }, "then it is recognized")
  t.strictSame(replies[1], replies[0], "then pieces give the same result as the whole")
  t.strictSame(replies[2], replies[0], "wherever they are cut")
  t.equal(recognition.listening(), 0, "then no decoder is in use any more")
})

heard("given more speaking callees than decoders", function* (t) {
  const recognition = yield* recognizing({ listening: 2 })
  const calls = yield* Effect.all([1, 2, 3, 4].map(() => call(recognition, hints)))
  for (const { hears } of calls) hears(quiet(500), pcm("no thank you"), quiet(100))
  t.equal(recognition.listening(), 2, "then as many are listened to as there are")
  t.equal(recognition.listen(grammar), undefined, "then there is none for another callee")
  const texts = yield* Effect.all(
    calls.map(({ text }) => text),
    { concurrency: "unbounded" }
  )
  t.strictSame(texts, ["no thank you", "no thank you", "no thank you", "no thank you"], "then the others are understood afterwards")
  t.equal(recognition.listening(), 0, "then the decoders are free")
  for (const { hears } of calls) hears(quiet(2000), pcm("yes"), quiet(100))
  t.equal(recognition.listening(), 2, "for the next utterances")
})

heard("given a process that is killed while callees speak", function* (t) {
  const recognition = yield* recognizing()
  const [first, second] = yield* Effect.all([call(recognition, hints), call(recognition, hints)])
  const [begin, end] = halves(pcm("call me back tomorrow"))
  for (const { hears } of [first, second]) hears(quiet(500), begin)
  t.equal(recognition.listening(), 2)
  const before = recognition.pids()
  for (const pid of before) process.kill(pid, "SIGKILL")
  yield* Effect.promise(() => untilTrue("end of the process", () => recognition.pids().length === 0))
  for (const { hears } of [first, second]) hears(end, quiet(100))
  const texts = yield* Effect.all([first.text, second.text], { concurrency: "unbounded" })
  t.strictSame(texts, ["call me back tomorrow", "call me back tomorrow"], "then another process hears all that they say")
  t.notSame(recognition.pids(), before)
  t.equal(recognition.listening(), 0)
  first.hears(quiet(2000), pcm("yes"), quiet(100))
  t.equal(yield* first.text, "yes", "and what they say next")
})

heard("given an utterance that is given up", function* (t) {
  const recognition = yield* recognizing({ listening: 1 })
  const [begin, end] = halves(pcm("call me back tomorrow"))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const { hears } = yield* call(recognition, hints)
      hears(quiet(500), begin)
      t.equal(recognition.listening(), 1)
    })
  )
  t.equal(recognition.listening(), 0, "when the callee hangs up, then the decoder is free at once")

  const { hears, session, text } = yield* call(recognition, hints)
  hears(quiet(500), begin, quiet(800))
  t.equal(recognition.listening(), 0, "when a voice stops and the answer is not requested, then it is free too")
  hears(end, quiet(100))
  t.equal(recognition.listening(), 1, "until the voice continues")
  t.equal(yield* text, "call me back tomorrow", "and nothing of it is lost")

  hears(quiet(2000), pcm("yes"))
  session.hint({ ...hints, phrases: ["yes", "maybe"] })
  hears(quiet(100))
  t.equal(yield* text, "yes", "when the grammar changes, then what is being said is heard with the new one")

  hears(quiet(2000), Int16Array.from(hiss(100, 2000)), quiet(100))
  t.equal(recognition.listening(), 0, "when there is a short noise, then it gets no decoder")
  for (const { samples } of framesOf(after(quiet(2000), pcm("yes"), quiet(100)))) session.write(samples, false)
  t.equal(recognition.listening(), 0, "when sound does not count as speech, such as echo, then it gets none either")
  t.equal(yield* text, "yes", "and is understood if it is asked for")
  const talk = pcm("we were talking about the")
  for (let times = 0; times < 8; times++) hears(talk)
  t.equal(recognition.listening(), 0, "when somebody speaks for too long, then they do not keep one")
})
