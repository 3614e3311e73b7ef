/** Voices behind the speech interface of OpenAI, which speaches and Kokoro-FastAPI also speak: https://platform.openai.com/docs/api-reference/audio/createSpeech */
import { speechRates } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText, token } from "#core/provider/Credential.ts"
import { addressFaults } from "#adapters/voice/shared/BaseUrl.ts"
import { hostedVoice, numberOf, voiceFields } from "#adapters/voice/shared/hostedVoice.ts"
import { optionalKey } from "#adapters/voice/shared/modelFields.ts"
import { usualPatience } from "#adapters/voice/shared/SpokenReply.ts"
import { tryBearerKey } from "./tryBearerKey.ts"

interface Server {
  readonly provider: string
  readonly title: string
  readonly baseUrl: string
  readonly model: string
  readonly voice: string
  readonly atOnce: number
  readonly needsNoKey?: true
}

/** The names, addresses and defaults are those that the existing product stores. */
const servers: ReadonlyArray<Server> = [
  {
    provider: "openai",
    title: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    atOnce: 16
  },
  {
    provider: "speaches",
    title: "Speaches",
    baseUrl: "http://localhost:8000/v1",
    model: "kokoro",
    voice: "af_heart",
    atOnce: 4,
    needsNoKey: true
  }
]

const usualRate = "24000"

const fieldsOf = ({ atOnce, baseUrl, model, needsNoKey, voice }: Server) => ({
  model: optionalText({ label: "Model", default: model }),
  voice: optionalText({ label: "Voice", default: voice }),
  api_key: needsNoKey === true ? optionalKey : token({ label: "API key" }),
  ...voiceFields({ atOnce, baseUrl }),
  instructions: optionalText({ label: "Instructions", description: "How to speak, for models that take them." }),
  sample_rate: optionalText({
    label: "Sample rate",
    description: "Of the server's pcm format, which does not say it.",
    default: usualRate,
    choices: speechRates.map(String)
  })
})

/** The voices with other limits, for tests. */
export const openaiVoices = (patience = usualPatience) =>
  servers.map((server) =>
    defineTextToSpeech({
      manifest: {
        contract: 1,
        kind: "tts",
        provider: server.provider,
        title: server.title,
        description: `${server.title}, or any server with OpenAI's speech interface.`
      },
      fields: fieldsOf(server),
      check: addressFaults,
      probe: tryBearerKey,
      speaker: (config, { egress }) => {
        const { api_key, instructions, model, sample_rate, speed, voice } = config
        const settings = { speed: numberOf(speed), instructions: instructions === "" ? undefined : instructions }
        return hostedVoice({
          provider: server.provider,
          voice,
          model,
          format: { encoding: "pcm16", rate: speechRates.find((rate) => String(rate) === sample_rate) ?? 24_000 },
          config,
          egress,
          patience,
          request: (input) => ({
            path: "/audio/speech",
            headers: api_key === "" ? {} : { authorization: `Bearer ${api_key}` },
            body: { model, input, voice, response_format: "pcm", ...settings }
          })
        })
      }
    })
  )
