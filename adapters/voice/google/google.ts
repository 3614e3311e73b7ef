/** Google's Gemini with an API key: https://ai.google.dev/api/generate-content */
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { optionalText, token } from "#core/provider/Credential.ts"
import { openHosted, usualPatience } from "#adapters/voice/shared/hostedModel.ts"
import { faultsOf, modelFields, settingsOf } from "#adapters/voice/shared/modelFields.ts"
import { keyTrial } from "#adapters/voice/shared/tryKey.ts"
import { askGemini } from "./askGemini.ts"

const provider = "google"

/** The provider with other limits, for tests. */
export const googleWith = (patience = usualPatience) => {
  const alwaysThink = new Set<string>()
  return defineLanguageModel({
    manifest: { contract: 1, kind: "llm", provider, title: "Google Gemini", description: "Gemini, by Google, with an API key." },
    fields: {
      model: optionalText({ label: "Model", default: "gemini-3.5-flash" }),
      api_key: token({ label: "API key" }),
      ...modelFields({
        baseUrl: "https://generativelanguage.googleapis.com",
        path: "/v1beta/models",
        extraBody: '{"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}'
      })
    },
    check: faultsOf,
    // A wrong key is a wrong argument: https://ai.google.dev/gemini-api/docs/troubleshooting
    probe: keyTrial("/v1beta/models?pageSize=1", (key) => ({ "x-goog-api-key": key }), 400),
    open: (config, { egress }) => {
      const settings = settingsOf(config)
      return openHosted({ provider, settings, egress, patience, ask: (request) => askGemini(settings, request, alwaysThink) })
    }
  })
}

export const google = googleWith()
