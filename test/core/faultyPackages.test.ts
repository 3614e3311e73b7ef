/** Services whose packages throw during setup: a call is planned anyway, and fails only when it uses them. */
import { Effect, Stream } from "effect"
import t from "tap"
import { OrganizationId } from "#core/Id.ts"
import { defineEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { trunksOf } from "#test/support/egress.ts"

const host = { egress: trunksOf(OrganizationId.make(1)) }
const manifest = <const Kind extends string>(kind: Kind) =>
  ({ contract: 1, kind, provider: "acme", title: "Acme", description: "" }) as const
const throws = () => {
  throw new TypeError("of the package's own")
}
const hints = { language: "en-US", keyterms: [], phrases: [] }

t.test("given packages that throw during setup, then each becomes a service that fails with that reason", async (t) => {
  const llm = defineLanguageModel({ manifest: manifest("llm"), fields: {}, open: throws }).open({}, host)
  const endOfTurn = defineEndOfTurn({ manifest: manifest("end_of_turn"), fields: {}, open: throws }).open({}, host)
  const recognizer = defineRecognizer({ manifest: manifest("stt"), fields: {}, recognizer: throws }).recognizer({}, host)
  const voice = defineTextToSpeech({ manifest: manifest("tts"), fields: {}, speaker: throws }).speaker({}, host)
  const uses = {
    llm,
    endOfTurn,
    recognizer: recognizer.open(hints, () => {}),
    voice: Stream.runDrain(voice.speak("Good morning.", { isAnswered: true, neededAt: 0 }))
  }
  for (const [name, use] of Object.entries(uses)) {
    const failure = await Effect.runPromise(Effect.flip(Effect.scoped(Effect.asVoid(use as Effect.Effect<unknown, ModelError>))))
    t.ok(failure instanceof ModelError, name)
    t.match(failure, { reason: "broken", message: "its package has a fault: it threw a TypeError when it was set up" }, name)
  }
})
