/**
 * ElevenLabs' voices: https://elevenlabs.io/docs/api-reference/text-to-speech/stream-with-timestamps. The sentence before is not sent along as
 * `previous_text`: a sentence would then be made and paid for again after each other one, instead of being cached.
 */
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText, token } from "#core/provider/Credential.ts"
import { addressFaults } from "#adapters/voice/shared/BaseUrl.ts"
import { hostedVoice, numberOf, voiceFields } from "#adapters/voice/shared/hostedVoice.ts"
import { usualPatience } from "#adapters/voice/shared/SpokenReply.ts"
import { timedCharacters } from "./timedCharacters.ts"
import { tryElevenLabsKey } from "./tryElevenLabsKey.ts"

const provider = "elevenlabs"
/** The service refuses others. */
const [SLOWEST, FASTEST] = [0.7, 1.2]

/** The existing product once stored voices as `Name - id`. */
const idOf = (voice: string): string => voice.split(" - ").at(-1)?.trim() ?? voice

/** The voices with other limits, for tests. */
export const elevenlabsWith = (patience = usualPatience) =>
  defineTextToSpeech({
    manifest: { contract: 1, kind: "tts", provider, title: "ElevenLabs", description: "The voices of ElevenLabs." },
    fields: {
      voice: optionalText({ label: "Voice", description: "Its id.", default: "21m00Tcm4TlvDq8ikWAM" }),
      model: optionalText({ label: "Model", default: "eleven_flash_v2_5" }),
      api_key: token({ label: "API key" }),
      ...voiceFields({ atOnce: 4, baseUrl: "https://api.elevenlabs.io" }),
      language: optionalText({ label: "Language", description: "Such as de, for models of many languages. Empty: that of the text." })
    },
    check: addressFaults,
    probe: tryElevenLabsKey,
    speaker: (config, { egress }) => {
      const { api_key, language, model, speed, voice } = config
      const rate = numberOf(speed)
      const settings = {
        stability: 0.8,
        similarity_boost: 0.75,
        ...(rate === undefined ? {} : { speed: Math.min(Math.max(rate, SLOWEST), FASTEST) })
      }
      return hostedVoice({
        provider,
        voice,
        model,
        config,
        egress,
        patience,
        request: (text) => ({
          path: `/v1/text-to-speech/${encodeURIComponent(idOf(voice))}/stream/with-timestamps?output_format=ulaw_8000`,
          headers: { "xi-api-key": api_key },
          body: { text, model_id: model, voice_settings: settings, ...(language === "" ? {} : { language_code: language }) },
          events: timedCharacters
        })
      })
    }
  })
