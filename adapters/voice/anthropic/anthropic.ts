/** Anthropic's models over the Messages interface: https://platform.claude.com/docs/en/api/messages */
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { text, token } from "#core/provider/Credential.ts"
import { openHosted, usualPatience } from "#adapters/voice/shared/hostedModel.ts"
import { faultsOf, modelFields, settingsOf } from "#adapters/voice/shared/modelFields.ts"
import { keyTrial } from "#adapters/voice/shared/tryKey.ts"
import { askMessages, headersOf } from "./askMessages.ts"
import { MOST_TOKENS } from "./MessagesRequest.ts"

const provider = "anthropic"

/** The provider with other limits, for tests. */
export const anthropicWith = (patience = usualPatience) =>
  defineLanguageModel({
    manifest: { contract: 1, kind: "llm", provider, title: "Anthropic", description: "Claude, by Anthropic." },
    fields: {
      model: text({ label: "Model", placeholder: "claude-haiku-4-5" }),
      api_key: token({ label: "API key" }),
      ...modelFields({
        baseUrl: "https://api.anthropic.com",
        path: "/v1/messages",
        longest: String(MOST_TOKENS),
        extraBody: '{"service_tier": "standard_only"}'
      })
    },
    check: faultsOf,
    probe: keyTrial("/v1/models?limit=1", headersOf),
    open: (config, { egress }) => {
      const settings = settingsOf(config)
      return openHosted({ provider, settings, egress, patience, ask: (request) => askMessages(settings, request) })
    }
  })

export const anthropic = anthropicWith()
