/** The engine's own voices, whose speech is synthesized in `runtime/voice`. */
import type { TextToSpeech } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { type FliteVoice, fliteVoices, offlineVoice } from "#core/model/VoiceServices.ts"
import { optionalText } from "#core/provider/Credential.ts"

export const fliteProvider = (speaker: (voice: FliteVoice) => TextToSpeech) =>
  defineTextToSpeech({
    manifest: {
      contract: 1,
      kind: "tts",
      provider: offlineVoice.engine,
      title: "Flite",
      description: "Speech made by the engine itself, offline and without a key. US English.",
      languages: ["en"]
    },
    fields: { voice: optionalText({ label: "Voice", default: offlineVoice.voice, choices: fliteVoices }) },
    speaker: ({ voice }) => speaker(fliteVoices.find((one) => one === voice) ?? offlineVoice.voice)
  })
