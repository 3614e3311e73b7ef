/** The voices that the engine has of its own; `runtime/voice` makes their speech. */
import { defineService } from "#core/model/ServiceProvider.ts"
import { fliteVoices, offlineVoice } from "#core/model/VoiceServices.ts"
import { optionalText } from "#core/provider/Credential.ts"

export const flite = defineService({
  manifest: {
    contract: 1,
    kind: "tts",
    provider: offlineVoice.engine,
    title: "Flite",
    description: "Speech made by the engine itself, offline and without a key. US English.",
    languages: ["en"]
  },
  fields: { voice: optionalText({ label: "Voice", default: offlineVoice.voice, choices: fliteVoices }) }
})
