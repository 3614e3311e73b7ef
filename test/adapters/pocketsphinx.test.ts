/** Utterances of synthetic voices, heard as over a phone line, and what PocketSphinx recognizes in them by grammar. */
import { Effect, Fiber } from "effect"
import t from "tap"
import { grammarOf, wordsOf } from "#adapters/voice/pocketsphinx/Grammar.ts"
import { leastScorePerFrame as leastScoreIn } from "#adapters/voice/pocketsphinx/Sphinx.ts"
import { encode } from "#core/audio/Mulaw.ts"
import type { FliteVoice } from "#runtime/voice/FliteWasm.ts"
import { untilTrue } from "#test/support/until.ts"
import { heard, pcm, recognizing } from "./recognitionScene.ts"

const voices = ["rms", "awb", "slt"] as const satisfies ReadonlyArray<FliteVoice>

const utterance = (voice: FliteVoice, text: string): Uint8Array => encode(pcm(text, voice))
const sentences = ["yes", "no", "yes please", "no thank you", "call me back tomorrow", "i want to speak to a person"]
const leastScorePerFrame = leastScoreIn(Number.POSITIVE_INFINITY)
const grammar = grammarOf(sentences) ?? ""
t.test("grammars", async (t) => {
  t.equal(grammarOf([]), undefined, "none without sentences")
  t.equal(grammarOf(["?", " "]), undefined, "nor without words")
  t.equal(
    grammarOf(["Yes, please!", "yes please", "No"]),
    "#JSGF V1.0; grammar node; public <utterance> = yes please | no ;",
    "sentences in lower case, once each"
  )
  t.strictSame(
    wordsOf("#JSGF V1.0; grammar trunkline; public <utterance> = call trunkline [/2/ now] <tomorrow> | no {tag} | call ;"),
    ["call", "trunkline", "now", "no"],
    "names, weights and tags are not words"
  )
})

heard("given utterances of three voices", function* (t) {
  const { recognize } = yield* recognizing()
  for (const voice of voices) {
    for (const text of sentences) {
      const { hypothesis } = yield* recognize({ grammar, audio: utterance(voice, text) })
      t.equal(hypothesis?.text, text, `then "${text}" of ${voice} is recognized`)
      t.ok((hypothesis?.scorePerFrame ?? -100) >= leastScorePerFrame, "with enough certainty")
    }
  }
  const other = grammarOf(["seven", "eight"]) ?? ""
  const { hypothesis } = yield* recognize({ grammar: other, audio: utterance("rms", "seven") })
  t.equal(hypothesis?.text, "seven", "then another grammar can be used in between")
})

heard("given a grammar that PocketSphinx cannot fully use", function* (t) {
  const { recognize } = yield* recognizing()
  const audio = utterance("rms", "yes please")
  const strange = yield* recognize({ grammar: grammarOf(["yes please", "yes xqzwvian"]) ?? "", audio })
  t.strictSame(strange.unknown, ["xqzwvian"], "then the unknown word is named")
  t.equal(strange.hypothesis?.text, "yes please", "and the rest is recognized")
  const broken = yield* recognize({ grammar: "public <utterance> = ((( ;", audio })
  t.strictSame(broken, { hypothesis: undefined, unknown: [] }, "then nothing is recognized with a broken one")
  t.equal((yield* recognize({ grammar, audio: new Uint8Array(0) })).hypothesis, undefined, "nor in no audio at all")
  t.equal((yield* recognize({ grammar, audio })).hypothesis?.text, "yes please", "then the process continues")
})

heard("given a process that is killed", function* (t) {
  const { depth, pids, recognize, warm } = yield* recognizing()
  t.strictSame(pids(), [], "then none runs before it is needed")
  yield* warm
  const [first = 0] = pids()
  const audio = utterance("rms", "yes please")
  const request = recognize({ grammar, audio })
  yield* request
  const waiting = yield* Effect.forkChild(Effect.all([request, request, request], { concurrency: "unbounded" }))
  yield* Effect.promise(() => untilTrue("waiting utterances", () => depth() === 3))
  process.kill(first, "SIGKILL")
  const replies = yield* Fiber.join(waiting)
  const texts = replies.map(({ hypothesis }) => hypothesis?.text)
  t.strictSame(texts, ["yes please", "yes please", "yes please"], "then the next one recognizes what waited")
  t.not(pids()[0], first, "by another process")
  t.equal(depth(), 0, "then nothing waits any more")
})

heard("given more utterances than can wait", function* (t) {
  const { depth, recognize } = yield* recognizing({ mostWaiting: 1 })
  const request = recognize({ grammar, audio: utterance("rms", "no") })
  const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.result(request), { startImmediately: true }))
  const [first, second, third] = yield* Effect.forEach(fibers, Fiber.join)
  t.match(
    [first, second, third],
    [{ _tag: "Success" }, { _tag: "Success" }, { _tag: "Failure", failure: { reason: "Busy" } }],
    "then that is reported at once"
  )
  const gone = yield* Effect.forkChild(request, { startImmediately: true })
  yield* Fiber.interrupt(gone)
  yield* Effect.promise(() => untilTrue("nothing waiting", () => depth() === 0))
  t.equal((yield* request).hypothesis?.text, "no", "then a caller who hangs up leaves no reply behind for the next one")
})

heard("when the engine stops", function* (t) {
  const pid = yield* Effect.scoped(
    Effect.gen(function* () {
      const { pids, warm } = yield* recognizing()
      yield* warm
      return pids()[0] ?? 0
    })
  )
  const isGone = () => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }
  yield* Effect.promise(() => untilTrue("end of the process", isGone))
  t.ok(isGone(), "then no process is left")
})
