/** Language models behind the chat-completions interface of OpenAI, which vLLM, Ollama, llama.cpp, LiteLLM, Groq and many others also speak. */
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { type ConfigOf, optionalBoolean, text } from "#core/provider/Credential.ts"
import { openHosted, usualPatience } from "#adapters/voice/shared/hostedModel.ts"
import { faultsOf, modelFields, optionalKey, settingsOf, tokenLimit } from "#adapters/voice/shared/modelFields.ts"
import { askChat } from "./ChatAttempts.ts"
import type { ChatSettings } from "./ChatRequest.ts"
import { ServerHabits } from "./ServerHabits.ts"
import { tryBearerKey } from "./tryBearerKey.ts"

const provider = "openai"

/** What servers of this interface may need to be told. */
export const chatFields = {
  max_completion_tokens: tokenLimit("Longest answer with reasoning", "For models that refuse max_tokens."),
  whole_with_tools: optionalBoolean({
    label: "Do not stream with tools",
    description: "For servers that lose tool calls when they stream."
  }),
  no_stream_options: optionalBoolean({ label: "No stream options", description: "For servers that refuse stream_options." }),
  starts_thinking: optionalBoolean({
    label: "Starts thinking",
    description: "The model's reasoning ends with </think> but has no <think>. Without this, it is found out in the first answer."
  })
} as const
export const chatWords = { path: "/chat/completions", extraBody: '{"reasoning_effort": "none"}' }

/** The settings in a configuration without faults. */
export const chatSettingsOf = (config: ConfigOf<typeof chatFields> & Parameters<typeof settingsOf>[0]): ChatSettings => {
  const hasNewLimit = config.max_completion_tokens !== ""
  return {
    ...settingsOf({ ...config, max_tokens: hasNewLimit ? config.max_completion_tokens : config.max_tokens }),
    tokenLimitName: hasNewLimit ? "max_completion_tokens" : "max_tokens",
    isWholeWithTools: config.whole_with_tools,
    omitsStreamOptions: config.no_stream_options,
    startsThinking: config.starts_thinking,
    headers: config.api_key === "" ? {} : { authorization: `Bearer ${config.api_key}` }
  }
}

/** The provider with other limits, for tests. It remembers what its servers need. */
export const openaiWith = (patience = usualPatience, habits = new ServerHabits()) =>
  defineLanguageModel({
    manifest: {
      contract: 1,
      kind: "llm",
      provider,
      title: "OpenAI-compatible",
      description:
        "Any server that speaks the chat-completions interface: OpenAI, vLLM, Ollama, llama.cpp, LM Studio, LiteLLM, Groq, OpenRouter, Gemini, DeepSeek."
    },
    fields: {
      model: text({ label: "Model", placeholder: "gpt-4.1-mini" }),
      api_key: optionalKey,
      ...modelFields({ ...chatWords, baseUrl: "https://api.openai.com/v1" }),
      ...chatFields
    },
    check: faultsOf,
    probe: tryBearerKey,
    open: (config, { egress }) => {
      const settings = chatSettingsOf(config)
      return openHosted({ provider, settings, egress, patience, ask: (request) => askChat(settings, request, habits) })
    }
  })

export const openai = openaiWith()
