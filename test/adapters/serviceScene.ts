/** Calls that an emulated recognizer's service listens to. */
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import type { Test } from "tap"
import { recognizerConformance, type RecognizerWorld } from "#adapters/conformance/conformance.ts"
import type { RecognizerProvider } from "#core/model/RecognizerProvider.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { makeHearing } from "#runtime/voice/Hearing.ts"
import type { RecognizerEmulator } from "#test/emulators/shared/RecognizerEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { untilTrue } from "#test/support/until.ts"

const egress = webhooksOf({ privateWebhooks: true })
export const hints: RecognizerHints = { language: "en-US", keyterms: ["Trunkline"], phrases: ["yes", "a phrase that is long"] }
export const silence = new Int16Array(160)

/** One of the services, and how it is used. */
export interface Served {
  readonly provider: RecognizerProvider
  readonly model: string
  readonly emulator: () => RecognizerEmulator
}

const openWorld = async ({ emulator: made, model }: Served): Promise<RecognizerWorld> => {
  const emulator = await made().listen()
  return {
    config: { api_key: emulator.key, base_url: emulator.url, model },
    egress,
    speech: (text) => emulator.speech.audioOf(text),
    breakDown: () => {
      emulator.isMute = true
    },
    close: () => emulator.stop()
  }
}

export const testConformance = async (t: Test, served: Served): Promise<void> => {
  const asked: Array<string> = []
  for (const { name, run } of recognizerConformance(served.provider, () => openWorld(served)))
    await t.test(name, async (t) => {
      const { notAsked } = await run()
      if (notAsked === undefined) asked.push(name)
      t.pass(notAsked ?? "it holds")
    })
  t.ok(asked.length >= 5, "which asks nearly everything of it")
}

/** A call that the service listens to once it is opened. Configured with the right key, unless `config` says otherwise. */
export const listen = async <Emulator extends RecognizerEmulator>(
  t: Test,
  provider: RecognizerProvider,
  emulator: Emulator,
  config: object = {}
) => {
  await emulator.listen()
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  t.teardown(async () => {
    await close()
    await emulator.stop()
  })
  const events: Array<RecognizerEvent> = []
  const opening = (permitted = egress) => {
    const recognizer = provider.recognizer({ api_key: emulator.key, base_url: emulator.url, ...config }, { egress: permitted })
    return Scope.provide(
      recognizer.open(hints, (event) => void events.push(event)),
      scope
    )
  }
  return {
    emulator,
    events,
    close,
    open: () => Effect.runPromise(opening()),
    /** What a refused opening says. */
    whyNot: (permitted = egress) => Effect.runPromise(Effect.flip(opening(permitted))),
    tags: () => events.map((event) => ("text" in event ? `${event._tag} ${event.text}` : event._tag)),
    finals: () => events.flatMap((event) => (event._tag === "Final" ? [[event.text, event.isForced]] : [])),
    failures: () => events.flatMap((event) => (event._tag === "Failed" ? [event.error] : []))
  }
}

export const says = (session: Pick<RecognizerSession, "write">, audio: Int16Array): void => {
  for (let at = 0; at < audio.length; at += 160) session.write(audio.subarray(at, at + 160))
}
export const pauses = (session: Pick<RecognizerSession, "write">, frames: number): void => says(session, new Int16Array(frames * 160))

/** What is understood of a callee who speaks while the connection breaks. */
export const textsOverBreak = async ({ emulator: made, model, provider }: Served): Promise<ReadonlyArray<string>> => {
  const emulator = await made().listen()
  const recognizer = provider.recognizer({ api_key: emulator.key, base_url: emulator.url, model }, { egress })
  const texts: Array<string> = []
  const hearing = makeHearing([recognizer], hints, (event) => {
    if ((event._tag === "Final" || event._tag === "EndDeclared") && event.text !== "") texts.push(event.text)
  })
  const running = Effect.runFork(Effect.provide(hearing.run, Logger.layer([])))
  const audio = emulator.speech.audioOf("my number is four")
  const middle = 12 * silence.length
  await untilTrue("a connection", () => emulator.connections.length === 1)
  says(hearing, audio.subarray(0, middle))
  await untilTrue("half of the audio", () => (emulator.connections[0]?.frames ?? 0) >= 10)
  emulator.closeAll(1011, "NET-0000 upstream")
  await untilTrue("another connection", () => emulator.connections.length === 2)
  says(hearing, audio.subarray(middle))
  hearing.finalize()
  await untilTrue("the text", () => texts.length > 0)
  await Effect.runPromise(Fiber.interrupt(running))
  await emulator.stop()
  return texts
}
