/** The conformance suite of recognizers: the built-in recognizers pass it, and recognizers that break its rules fail. */
import { Effect } from "effect"
import t, { type Test } from "tap"
import { recognizerConformance, type RecognizerWorld } from "#adapters/conformance/conformance.ts"
import { moonshineProvider } from "#adapters/voice/moonshine/provider.ts"
import { makeTranscriber, type Transcriber } from "#adapters/voice/moonshine/Transcriber.ts"
import { NotTranscribed } from "#adapters/voice/moonshine/TranscriptionProcess.ts"
import { pocketsphinxProvider } from "#adapters/voice/pocketsphinx/provider.ts"
import type { Recognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { NotRecognized } from "#adapters/voice/pocketsphinx/SphinxProcess.ts"
import { defineRecognizer, type RecognizerProvider } from "#core/model/RecognizerProvider.ts"
import type { RecognizerEvent, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { moonshineModel, moonshineUnavailable } from "#test/support/moonshine.ts"
import { runLive } from "#test/support/run.ts"
import { scriptedRecognizer } from "#test/support/scriptedRecognizer.ts"
import { tone } from "#test/support/wav.ts"
import { heard, pcm, recognizing } from "./recognitionScene.ts"

const egress = webhooksOf()
const patienceMillis = 600_000

/** A world, and whether its recognizer has been told to break down. */
const breakable = () => {
  let isBroken = false
  const openWorld = async (): Promise<RecognizerWorld> => {
    isBroken = false
    const breakDown = () => {
      isBroken = true
    }
    return { config: {}, egress, speech: pcm, breakDown, close: async () => {} }
  }
  return { isBroken: () => isBroken, openWorld }
}
const holdsFor = (t: Test, provider: RecognizerProvider, openWorld: () => Promise<RecognizerWorld>) =>
  Effect.forEach(recognizerConformance(provider, openWorld, { patienceMillis }), ({ name, run }) =>
    Effect.promise(() => t.test(name, async (t) => t.strictSame(await run(), {})))
  )

heard("PocketSphinx", function* (t) {
  const whole = yield* recognizing()
  const { isBroken, openWorld } = breakable()
  const recognition: Recognition = {
    ...whole,
    recognize: (request) => (isBroken() ? Effect.fail(new NotRecognized({ reason: "Crashed" })) : whole.recognize(request))
  }
  yield* holdsFor(t, pocketsphinxProvider(recognition), openWorld)
})

t.test("Moonshine", { skip: (await moonshineUnavailable()) ?? false }, (t) =>
  runLive(
    Effect.gen(function* () {
      const model = moonshineModel("base")
      const models = () => ({ careful: model, quick: undefined })
      const whole = yield* makeTranscriber({ models, atOnce: 1, mostWaiting: 100, timeout: "10 minutes", idle: "1 hour" })
      const { isBroken, openWorld } = breakable()
      const transcriber: Transcriber = {
        ...whole,
        transcribe: (request) => (isBroken() ? Effect.fail(new NotTranscribed({ reason: "Crashed" })) : whole.transcribe(request))
      }
      yield* holdsFor(t, moonshineProvider({ transcriber, model: model.name, languages: ["en"], unready: () => undefined }), openWorld)
    })
  )
)

const manifest = { contract: 1, kind: "stt", provider: "scripted", title: "Scripted", description: "" } as const
/** The recognizer as `altered` changes it, with a world that tells it what is said. */
const scripted = (altered: (recognizer: SpeechToText) => SpeechToText = (recognizer) => recognizer) => {
  const recognizer = scriptedRecognizer()
  const provider = defineRecognizer({ manifest, fields: {}, recognizer: () => altered(recognizer) })
  const speech = (text: string) => {
    recognizer.says(text)
    return tone(0.5)
  }
  return { provider, openWorld: async (): Promise<RecognizerWorld> => ({ config: {}, egress, speech, close: async () => {} }) }
}

t.test("the recognizer that knows what was said", async (t) => {
  const { openWorld, provider } = scripted()
  for (const { name, run } of recognizerConformance(provider, openWorld, { patienceMillis })) {
    const { notAsked } = await run()
    t.equal(notAsked !== undefined, /^(open|failure):/.test(name), `${name}: ${notAsked ?? "it holds"}`)
  }
})

t.test("a recognizer that breaks a rule fails", async (t) => {
  const failuresOf = async (
    change: (session: RecognizerSession, emit: (event: RecognizerEvent) => void) => Partial<RecognizerSession>,
    tell: (emit: (event: RecognizerEvent) => void) => (event: RecognizerEvent) => void = (emit) => emit,
    languages?: ReadonlyArray<string>
  ) => {
    const { openWorld, provider } = scripted((recognizer) => ({
      ...recognizer,
      open: (hints, emit) => Effect.map(recognizer.open(hints, tell(emit)), (session) => ({ ...session, ...change(session, emit) }))
    }))
    const named: RecognizerProvider = languages === undefined ? provider : { ...provider, manifest: { ...manifest, languages } }
    const names: Array<string> = []
    for (const { name, run } of recognizerConformance(named, openWorld, { patienceMillis: 100 }))
      await run().catch(() => names.push(name.split(":")[0] ?? ""))
    return names
  }
  const keptFrames = (session: RecognizerSession): Partial<RecognizerSession> => {
    const kept: Array<Int16Array> = []
    return {
      write: (samples) => void kept.push(samples),
      finalize: () => {
        const isSpoilt = kept.some((samples) => samples[0] === 0x2aaa)
        for (const samples of kept.splice(0)) session.write(isSpoilt ? new Int16Array(samples.length) : samples)
        session.finalize()
      }
    }
  }
  t.match(await failuresOf(() => ({}), undefined, ["en"]), ["open"], "one that opens in any language")
  t.match(await failuresOf(keptFrames), ["write", "finalize", "finalize", "hints"], "one that keeps the engine's buffer")
  const never = await failuresOf(() => ({ finalize: () => {} }))
  t.match(never, ["write", "finalize", "finalize", "hints", "close"], "one that does not answer")
  const twice = await failuresOf((session) => ({
    finalize: () => {
      session.finalize()
      session.finalize()
    }
  }))
  t.match(twice, ["write", "finalize", "hints"], "one that answers twice")
  const late = await failuresOf(
    () => ({}),
    (emit) => (event) => emit(event._tag === "Final" ? { ...event, fromMillis: 0, untilMillis: 1_000_000 } : event)
  )
  t.match(late, ["finalize"], "one whose times are made up")
  const afterEnd = await failuresOf((session, emit) => ({
    finalize: () => {
      session.finalize()
      queueMicrotask(() => emit({ _tag: "Partial", text: "" }))
    }
  }))
  t.match(afterEnd, ["close"], "one that continues after the call")
})
