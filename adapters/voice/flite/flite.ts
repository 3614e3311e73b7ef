/** The engine's own voices, whose speech is synthesized in `runtime/voice`. */
import type { TextToSpeech } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText } from "#core/provider/Credential.ts"

interface Voices<Voice extends string> {
  readonly all: ReadonlyArray<Voice>
  readonly usual: Voice
  readonly speaker: (voice: Voice) => TextToSpeech
}

export const fliteProvider = <Voice extends string>({ all, speaker, usual }: Voices<Voice>) =>
  defineTextToSpeech({
    manifest: {
      contract: 1,
      kind: "tts",
      provider: "flite",
      title: "Flite",
      description: "Speech made by the engine itself, offline and without a key. US English.",
      languages: ["en"]
    },
    fields: { voice: optionalText({ label: "Voice", default: usual, choices: all }) },
    speaker: ({ voice }) => speaker(all.find((one) => one === voice) ?? usual)
  })
