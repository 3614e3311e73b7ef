/** Utterances of synthetic voices, heard as over a phone line, and what PocketSphinx recognizes in them by grammar. */
import { Effect, Fiber } from "effect"
import t from "tap"
import { grammarOf, wordsOf } from "#adapters/voice/pocketsphinx/Grammar.ts"
import { makeRecognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { leastScorePerFrame as leastScoreIn } from "#adapters/voice/pocketsphinx/Sphinx.ts"
import { encode, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { pocketsphinx, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const unavailable = await pocketsphinxUnavailable()
const skip = unavailable ?? false
const flite = loadFlite()
const voices = ["rms", "awb", "slt"] as const satisfies ReadonlyArray<FliteVoice>

const utterance = (voice: FliteVoice, text: string): Uint8Array => {
  const { rate, samples } = synthesize(flite, voice, text)
  return encode(resample(samples, rate, sampleRate))
}
const sentences = ["yes", "no", "yes please", "no thank you", "call me back tomorrow", "i want to speak to a person"]
const unrelated = [
  "the weather is nice",
  "what do you mean",
  "I have a dog at home",
  "seven",
  "who is speaking",
  "I do not know",
  "um",
  "my wife is not here right now",
  "we had fish and potatoes"
]
const leastScorePerFrame = leastScoreIn(Number.POSITIVE_INFINITY)
const grammar = grammarOf(sentences) ?? ""
const opened = (options: { readonly processes?: number; readonly mostWaiting?: number } = {}) =>
  makeRecognition({
    files: pocketsphinx(),
    listening: 4,
    processes: options.processes ?? 1,
    mostWaiting: options.mostWaiting ?? 100,
    timeout: "10 minutes"
  })

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

t.test("given utterances of three voices", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { recognize } = yield* opened()
      for (const voice of voices) {
        for (const text of sentences) {
          const { hypothesis } = yield* recognize({ grammar, audio: utterance(voice, text) })
          t.equal(hypothesis?.text, text, `then "${text}" of ${voice} is recognized`)
          t.ok((hypothesis?.scorePerFrame ?? -100) >= leastScorePerFrame, "with enough certainty")
        }
      }
      const accepted: Array<string> = []
      for (const voice of voices) {
        for (const text of unrelated) {
          const { hypothesis } = yield* recognize({ grammar, audio: utterance(voice, text) })
          if ((hypothesis?.scorePerFrame ?? -100) >= leastScorePerFrame) accepted.push(text)
        }
      }
      t.ok(
        accepted.length <= 2,
        `then of ${unrelated.length * voices.length} unrelated ones at most two are taken for an answer: ${accepted.join(", ")}`
      )
      const other = grammarOf(["seven", "eight"]) ?? ""
      const { hypothesis } = yield* recognize({ grammar: other, audio: utterance("rms", "seven") })
      t.equal(hypothesis?.text, "seven", "then another grammar can be used in between")
    })
  )
)

t.test("given a grammar that PocketSphinx cannot fully use", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { recognize } = yield* opened()
      const audio = utterance("rms", "yes please")
      const strange = yield* recognize({ grammar: grammarOf(["yes please", "yes xqzwvian"]) ?? "", audio })
      t.strictSame(strange.unknown, ["xqzwvian"], "then the unknown word is named")
      t.equal(strange.hypothesis?.text, "yes please", "and the rest is recognized")
      const broken = yield* recognize({ grammar: "public <utterance> = ((( ;", audio })
      t.strictSame(broken, { hypothesis: undefined, unknown: [] }, "then nothing is recognized with a broken one")
      t.equal((yield* recognize({ grammar, audio: new Uint8Array(0) })).hypothesis, undefined, "nor in no audio at all")
      t.equal((yield* recognize({ grammar, audio })).hypothesis?.text, "yes please", "then the process continues")
    })
  )
)

t.test("given a process that is killed", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { depth, pids, recognize, warm } = yield* opened()
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
      t.strictSame(
        replies.map(({ hypothesis }) => hypothesis?.text),
        ["yes please", "yes please", "yes please"],
        "then the next one recognizes what waited"
      )
      t.not(pids()[0], first, "by another process")
      t.equal(depth(), 0, "then nothing waits any more")
    })
  )
)

t.test("given more utterances than can wait", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { depth, recognize } = yield* opened({ mostWaiting: 1 })
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
  )
)

t.test("when the engine stops", { skip }, async (t) => {
  let pid = 0
  await runLive(
    Effect.scoped(
      Effect.gen(function* () {
        const { pids, warm } = yield* opened()
        yield* warm
        pid = pids()[0] ?? 0
      })
    )
  )
  const isGone = () => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }
  await untilTrue("end of the process", isGone)
  t.ok(isGone(), "then no process is left")
})
