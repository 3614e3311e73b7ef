import { Effect } from "effect"
import t from "tap"
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"
import { knownSpeech, knownSpeechOf } from "./knownSpeech.ts"
import { heardOf, makeMouth } from "./utterances.ts"

const speak = makeMouth()
const texts = ["yes", "yes please", "no", "five five five | one two", "five five five | one three"]
const utterances = texts.map((text) => speak(text))
/** Passed through JSON, as it is for a recognizer in another process. */
const known = JSON.parse(JSON.stringify(knownSpeechOf(utterances)))
const spoken = (text: string) => utterances.find((utterance) => utterance.text === text.replace(" |", ""))?.frames ?? []

const heard = (...frames: ReadonlyArray<"finalize" | Buffer>): ReadonlyArray<RecognizerEvent> => {
  const events: Array<RecognizerEvent> = []
  const session = Effect.runSync(
    Effect.scoped(knownSpeech(known).open({ language: "en", keyterms: [], phrases: [] }, (event) => void events.push(event)))
  )
  for (const frame of frames) frame === "finalize" ? session.finalize() : session.write(heardOf(frame))
  return events
}
const finals = (events: ReadonlyArray<RecognizerEvent>) => events.flatMap((event) => (event._tag === "Final" ? [event.text] : []))

t.test("given known audio, when it is heard, then the text is reported", async (t) => {
  for (const text of texts) t.strictSame(finals(heard(...spoken(text), "finalize")), [text.replace(" |", "")], text)
  t.strictSame(finals(heard(...spoken("yes"), "finalize", ...spoken("no"), "finalize", "finalize")), ["yes", "no", ""])
  const all = spoken("yes please")
  const middle = Math.floor(all.length / 2)
  t.strictSame(finals(heard(...all.slice(0, middle), "finalize", ...all.slice(middle), "finalize")), ["yes please", ""], "reported once")
  t.strictSame(finals(heard(...spoken("yes"), ...spoken("yes"), "finalize")), ["yes yes"], "said twice")
  t.match(heard(...spoken("no"))[0], { _tag: "Partial", text: "no" })
})

t.test("given unknown audio, when it is heard, then no text is reported", async (t) => {
  t.strictSame(finals(heard(...speak("what is this about").frames, "finalize")), [""])
  t.strictSame(finals(heard(...speak("yes", { voice: "slt" }).frames, "finalize")), [""])
})
