/** A call that an emulator of OpenAI's transcription listens to. */
import { Effect, Exit, Scope } from "effect"
import type { Test } from "tap"
import { openaiRecognizers } from "#adapters/voice/openai/transcription.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { TranscriptionEmulator } from "#test/emulators/openai/TranscriptionEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { until } from "#test/support/until.ts"

export const egress = webhooksOf({ privateWebhooks: true })
export const hints: RecognizerHints = { language: "nb-NO", keyterms: ["Trunkline", "Ada"], phrases: ["yes"] }
const silence = new Int16Array(160)
export const noise = Int16Array.from(silence, (_, at) => (at % 2 === 0 ? 4000 : -4000))

export const recognizerOf = (config: { readonly provider?: string }, patienceMillis?: number) => {
  const found = openaiRecognizers(patienceMillis).find(({ manifest }) => manifest.provider === (config.provider ?? "openai"))
  if (found === undefined) throw new Error("There is no such recognizer")
  return found
}

export const listen = async (t: Test, config: object = {}, patienceMillis?: number) => {
  const emulator = await new TranscriptionEmulator().listen()
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  t.teardown(async () => {
    await close()
    await emulator.stop()
  })
  const events: Array<RecognizerEvent> = []
  const given = { api_key: emulator.key, base_url: emulator.url, model: "whisper-1", ...config }
  const opening = recognizerOf(config, patienceMillis)
    .recognizer(given, { egress })
    .open(hints, (event) => void events.push(event))
  const session = await Effect.runPromise(Scope.provide(opening, scope))
  const says = (text: string) => write(session, emulator.speech.audioOf(text), true)
  const call = () => until("call", () => emulator.calls[0])
  const texts = () => events.flatMap((event) => (event._tag === "Final" ? [event.text] : []))
  /** Which of them take the place of the one before. */
  const replacing = () => events.flatMap((event) => (event._tag === "Final" ? [event.replaces === true] : []))
  const failures = () => events.flatMap((event) => (event._tag === "Failed" ? [event.error] : []))
  return { call, close, emulator, events, failures, replacing, says, session, texts }
}
export const write = (session: RecognizerSession, audio: Int16Array, isSpeech: boolean) => {
  for (let at = 0; at < audio.length; at += 160) session.write(audio.subarray(at, at + 160), isSpeech)
}
export const waits = (session: RecognizerSession, frames: number) => {
  for (let frame = 0; frame < frames; frame++) session.write(silence, false)
}
