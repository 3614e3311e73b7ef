/**
 * Services that speak OpenAI's interface under a name of their own, with the settings that the existing product stores for them: a table of
 * addresses, of the models that stand for none, and of what else is special.
 */
import { defineLanguageModel, type LanguageModelProvider } from "#core/model/ModelProvider.ts"
import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { address, optionalText, token } from "#core/provider/Credential.ts"
import { openHosted, usualPatience } from "#adapters/voice/shared/hostedModel.ts"
import { faultsOf, modelFields, optionalKey } from "#adapters/voice/shared/modelFields.ts"
import { tryKey } from "#adapters/voice/shared/tryKey.ts"
import { askChat } from "./ChatAttempts.ts"
import type { ChatSettings } from "./ChatRequest.ts"
import { chatFields, chatSettingsOf, chatWords } from "./openai.ts"
import { ServerHabits } from "./ServerHabits.ts"
import { tryBearerKey } from "./tryBearerKey.ts"

interface Named {
  readonly provider: string
  readonly title: string
  readonly baseUrl: string
  /** The model if none is set. */
  readonly model: string
  /** The temperature if none is set. */
  readonly temperature?: string
  readonly needsNoKey?: boolean
}

/** Each is asked at this address with `/chat/completions` behind it. */
const table: ReadonlyArray<Named> = [
  { provider: "atlascloud", title: "Atlas Cloud", baseUrl: "https://api.atlascloud.ai/v1", model: "qwen/qwen3.5-flash" },
  { provider: "groq", title: "Groq", baseUrl: "https://api.groq.com/openai/v1", model: "llama-3.3-70b-versatile" },
  { provider: "minimax", title: "MiniMax", baseUrl: "https://api.minimax.io/v1", model: "MiniMax-M2.7", temperature: "1" },
  { provider: "openrouter", title: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", model: "openai/gpt-4.1" },
  { provider: "sarvam", title: "Sarvam", baseUrl: "https://api.sarvam.ai/v1", model: "sarvam-105b", temperature: "0.5" },
  { provider: "speaches", title: "Speaches", baseUrl: "http://localhost:11434/v1", model: "llama3", needsNoKey: true }
]

const fieldsOf = ({ baseUrl, model, needsNoKey = false, temperature = "" }: Named) => {
  const fields = modelFields({ ...chatWords, baseUrl })
  return {
    model: optionalText({ label: "Model", default: model }),
    api_key: needsNoKey ? optionalKey : token({ label: "API key" }),
    ...fields,
    temperature: { ...fields.temperature, default: temperature },
    ...chatFields
  }
}

const manifestOf = ({ provider, title }: Pick<Named, "provider" | "title">) =>
  ({ contract: 1, kind: "llm", provider, title, description: `${title}, over the chat-completions interface.` }) as const

const habits = new ServerHabits()
const openNamed = (provider: string, settings: ChatSettings, { egress }: ServiceHost) =>
  openHosted({ provider, settings, egress, patience: usualPatience, ask: (request) => askChat(settings, request, habits) })

const defined = (named: Named): LanguageModelProvider =>
  defineLanguageModel({
    manifest: manifestOf(named),
    fields: fieldsOf(named),
    check: faultsOf,
    probe: tryBearerKey,
    open: (config, host) => openNamed(named.provider, chatSettingsOf(config), host)
  })

const router: Named = {
  provider: "huggingface",
  title: "Hugging Face",
  baseUrl: "https://router.huggingface.co/v1",
  model: "openai/gpt-oss-120b:cerebras"
}
const huggingface = defineLanguageModel({
  manifest: manifestOf(router),
  fields: {
    ...fieldsOf(router),
    bill_to: optionalText({ label: "Bill to", description: "The organization that pays.", pattern: "^[A-Za-z0-9_.-]*$" })
  },
  check: faultsOf,
  probe: tryBearerKey,
  open: (config, host) => {
    const plain = chatSettingsOf(config)
    // https://huggingface.co/docs/inference-providers/pricing
    const headers = config.bill_to === "" ? plain.headers : { ...plain.headers, "x-hf-bill-to": config.bill_to }
    return openNamed(router.provider, { ...plain, headers }, host)
  }
})

const { base_url: _, ...azureFields } = modelFields({ ...chatWords, baseUrl: "" })
/** The first version of Azure's interface that takes the deployment as the model: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle */
const azurePath = "/openai/v1"
const baseUrlOf = (endpoint: string): string => {
  const bare = endpoint.replace(/\/+$/, "")
  return bare.endsWith(azurePath) ? bare : bare + azurePath
}

const azureSettings = (config: Omit<Parameters<typeof chatSettingsOf>[0], "base_url"> & { readonly endpoint: string }): ChatSettings => {
  const plain = chatSettingsOf({ ...config, base_url: baseUrlOf(config.endpoint) })
  return { ...plain, headers: { "api-key": plain.apiKey } }
}

const azure = defineLanguageModel({
  manifest: manifestOf({ provider: "azure", title: "Azure OpenAI" }),
  fields: {
    model: optionalText({ label: "Deployment", default: "gpt-4.1-mini" }),
    api_key: token({ label: "API key" }),
    endpoint: address({ label: "Endpoint", placeholder: "https://example.openai.azure.com" }),
    ...azureFields,
    ...chatFields
  },
  check: (config) =>
    faultsOf({ ...config, base_url: config.endpoint }).map((fault) =>
      fault.field === "base_url" ? { ...fault, field: "endpoint" } : fault
    ),
  probe: (config, { egress }) => {
    const { baseUrl, headers } = azureSettings(config)
    return tryKey({ baseUrl: baseUrl.href, path: "/models", headers, egress })
  },
  open: (config, host) => openNamed("azure", azureSettings(config), host)
})

export const namedServers: ReadonlyArray<LanguageModelProvider> = [azure, huggingface, ...table.map(defined)]
