/** Deepgram's voices: https://developers.deepgram.com/reference/text-to-speech/speak-request */
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText, token } from "#core/provider/Credential.ts"
import { addressFaults } from "#adapters/voice/shared/BaseUrl.ts"
import { hostedVoice, numberOf, voiceFields } from "#adapters/voice/shared/hostedVoice.ts"
import { usualPatience } from "#adapters/voice/shared/SpokenReply.ts"
import { tryDeepgramKey } from "./tryDeepgramKey.ts"

const provider = "deepgram"

/** The voices with other limits, for tests. */
export const auraWith = (patience = usualPatience) =>
  defineTextToSpeech({
    manifest: { contract: 1, kind: "tts", provider, title: "Deepgram", description: "Aura, by Deepgram." },
    fields: {
      voice: optionalText({ label: "Voice", default: "aura-2-helena-en", pattern: "^[a-z0-9-]*$" }),
      api_key: token({ label: "API key" }),
      ...voiceFields({ atOnce: 5, baseUrl: "https://api.deepgram.com" })
    },
    check: addressFaults,
    probe: tryDeepgramKey,
    speaker: (config, { egress }) => {
      const { api_key, speed, voice } = config
      const query = new URLSearchParams({ model: voice, encoding: "mulaw", sample_rate: "8000", container: "none" })
      const rate = numberOf(speed)
      if (rate !== undefined) query.set("speed", String(rate))
      return hostedVoice({
        provider,
        voice,
        config,
        egress,
        patience,
        request: (text) => ({ path: `/v1/speak?${query}`, headers: { authorization: `Token ${api_key}` }, body: { text } })
      })
    }
  })
