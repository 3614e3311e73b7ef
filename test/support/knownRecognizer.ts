/**
 * A service whose package is installed by benchmarks, conversations and the demo: a recognizer that knows the audio of everything that callees
 * may say, from the file KNOWN_SPEECH.
 */
import { readFileSync } from "node:fs"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import { knownSpeech } from "./knownSpeech.ts"

const readSpeech = () => JSON.parse(readFileSync(process.env["KNOWN_SPEECH"] ?? "", "utf8"))
let recognizer: ReturnType<typeof knownSpeech> | undefined

export const knownRecognizer = defineRecognizer({
  manifest: { contract: 1, kind: "stt", provider: "known_speech", title: "Known speech", description: "Knows what is said." },
  fields: {},
  // All calls share its data.
  recognizer: () => (recognizer ??= knownSpeech(readSpeech()))
})
