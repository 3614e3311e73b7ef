/** Cartesia's voices: https://docs.cartesia.ai/api-reference/tts/sse */
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText, text, token } from "#core/provider/Credential.ts"
import { addressFaults } from "#adapters/voice/shared/BaseUrl.ts"
import { hostedVoice, numberOf, voiceFields } from "#adapters/voice/shared/hostedVoice.ts"
import { usualPatience } from "#adapters/voice/shared/SpokenReply.ts"
import { headersOf, tryCartesiaKey } from "./request.ts"
import { timedWords } from "./timedWords.ts"

const provider = "cartesia"

/** The voices with other limits, for tests. */
export const cartesiaWith = (patience = usualPatience) =>
  defineTextToSpeech({
    manifest: { contract: 1, kind: "tts", provider, title: "Cartesia", description: "Sonic, by Cartesia." },
    fields: {
      voice: text({ label: "Voice", description: "Its id." }),
      model: optionalText({ label: "Model", default: "sonic-3.5" }),
      api_key: token({ label: "API key" }),
      ...voiceFields({ atOnce: 3, baseUrl: "https://api.cartesia.ai" }),
      volume: optionalText({ label: "Volume", description: "1 is usual. Empty: the service decides.", pattern: "^([0-9]+([.][0-9]+)?)?$" }),
      language: optionalText({ label: "Language", default: "en" })
    },
    check: addressFaults,
    probe: tryCartesiaKey,
    speaker: (config, { egress }) => {
      const { api_key, language, model, speed, voice, volume } = config
      return hostedVoice({
        provider,
        voice,
        model,
        config,
        egress,
        patience,
        request: (transcript) => ({
          path: "/tts/sse",
          headers: headersOf(api_key),
          body: {
            model_id: model,
            transcript,
            voice: { mode: "id", id: voice },
            language,
            output_format: { container: "raw", encoding: "pcm_mulaw", sample_rate: 8000 },
            generation_config: { speed: numberOf(speed), volume: numberOf(volume) },
            add_timestamps: true,
            // The words of the text, not those that its figures are spoken with.
            use_normalized_timestamps: false
          },
          events: timedWords
        })
      })
    }
  })
