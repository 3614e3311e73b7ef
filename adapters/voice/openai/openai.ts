/** Language models behind the chat-completions interface of OpenAI, which vLLM, Ollama, llama.cpp, LiteLLM, Groq and many others also speak. */
import { Effect } from "effect"
import { isObject } from "#core/Json.ts"
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { address, type ConfigOf, optionalBoolean, optionalText, text } from "#core/provider/Credential.ts"
import { parse } from "#adapters/shared/Json.ts"
import { answerStream, type ModelPatience } from "#adapters/voice/shared/AnswerStream.ts"
import { openConnection } from "#adapters/voice/shared/ServiceConnection.ts"
import { askChat } from "./ChatAttempts.ts"
import type { ChatSettings } from "./ChatRequest.ts"
import { ServerHabits } from "./ServerHabits.ts"

/** Shorter than the time for which most servers and their proxies keep an idle connection. */
const IDLE_MILLIS = 55_000

const decimal = "^([0-9]+([.][0-9]+)?)?$"
const whole = "^[0-9]{0,6}$"

const fields = {
  model: text({ label: "Model", placeholder: "gpt-4.1-mini" }),
  api_key: {
    ...optionalText({ label: "API key", description: "Servers of your own may need none." }),
    type: "password",
    sensitive: true,
    normal: "token"
  },
  base_url: {
    ...address({ label: "Base URL", description: "The address that ends before /chat/completions." }),
    required: false,
    default: "https://api.openai.com/v1"
  },
  temperature: optionalText({ label: "Temperature", description: "Empty: the service decides.", pattern: decimal }),
  max_tokens: optionalText({ label: "Longest answer", description: "In tokens. Empty: the service decides.", pattern: whole }),
  max_completion_tokens: optionalText({
    label: "Longest answer with reasoning",
    description: "For models that refuse max_tokens.",
    pattern: whole
  }),
  whole_with_tools: optionalBoolean({
    label: "Do not stream with tools",
    description: "For servers that lose tool calls when they stream."
  }),
  no_stream_options: optionalBoolean({ label: "No stream options", description: "For servers that refuse stream_options." }),
  starts_thinking: optionalBoolean({
    label: "Starts thinking",
    description: "The model's reasoning ends with </think> but has no <think>. Without this, it is found out in the first answer."
  }),
  extra_body: {
    ...optionalText({
      label: "Further members of the request",
      description: "A JSON object.",
      placeholder: '{"reasoning_effort": "none"}'
    }),
    type: "textarea"
  }
} as const

type Config = ConfigOf<typeof fields>

const isUsable = (baseUrl: URL | null): baseUrl is URL =>
  baseUrl !== null && ["http:", "https:"].includes(baseUrl.protocol) && baseUrl.username === "" && baseUrl.password === ""
const extraBodyOf = ({ extra_body }: Config): unknown => (extra_body.trim() === "" ? {} : parse(extra_body))

const check = (config: Config) => [
  ...(isUsable(URL.parse(config.base_url)) ? [] : [{ field: "base_url", message: "Input should be an http:// or https:// address" }]),
  ...(isObject(extraBodyOf(config)) ? [] : [{ field: "extra_body", message: "Input should be a JSON object" }])
]

/** The settings in a configuration that passed `check`. */
const settingsOf = (config: Config): ChatSettings => {
  const extraBody = extraBodyOf(config)
  const numberIn = (given: string) => (given.trim() === "" ? undefined : Number(given))
  const hasNewLimit = config.max_completion_tokens !== ""
  return {
    baseUrl: new URL(config.base_url),
    extraBody: isObject(extraBody) ? extraBody : {},
    apiKey: config.api_key,
    model: config.model,
    temperature: numberIn(config.temperature),
    maxTokens: numberIn(hasNewLimit ? config.max_completion_tokens : config.max_tokens),
    tokenLimitName: hasNewLimit ? "max_completion_tokens" : "max_tokens",
    isWholeWithTools: config.whole_with_tools,
    omitsStreamOptions: config.no_stream_options,
    startsThinking: config.starts_thinking
  }
}

const patience: ModelPatience = { firstToken: 10_000, betweenTokens: 5_000, total: 60_000 }

/** The provider with other limits, for tests. It remembers what its servers need. */
export const openaiWith = (limits: ModelPatience, habits = new ServerHabits()) =>
  defineLanguageModel({
    manifest: {
      contract: 1,
      kind: "llm",
      provider: "openai",
      title: "OpenAI-compatible",
      description:
        "Any server that speaks the chat-completions interface: OpenAI, vLLM, Ollama, llama.cpp, LM Studio, LiteLLM, Groq, OpenRouter, Gemini, DeepSeek."
    },
    fields,
    check,
    open: (config, { egress }) =>
      Effect.gen(function* () {
        const settings = settingsOf(config)
        const connection = yield* openConnection(settings.baseUrl, egress, IDLE_MILLIS)
        return {
          provider: "openai",
          model: settings.model,
          answer: (request) => answerStream({ connection, patience: limits }, () => askChat(settings, request, habits))
        }
      })
  })

export const openai = openaiWith(patience)
