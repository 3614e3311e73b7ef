/** The fields that the configurations of hosted language models have in common, and what they mean. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { address, optionalText } from "#core/provider/Credential.ts"
import { parse } from "#adapters/shared/Json.ts"

const decimal = "^([0-9]+([.][0-9]+)?)?$"
const whole = "^[0-9]{0,6}$"

export const tokenLimit = (label: string, description: string) => optionalText({ label, description, pattern: whole })

/** For services whose key some servers do without. */
export const optionalKey = {
  ...optionalText({ label: "API key", description: "Servers of your own may need none." }),
  type: "password",
  sensitive: true,
  normal: "token"
} as const

interface Words {
  readonly baseUrl: string
  /** The path that is appended to the address. */
  readonly path: string
  /** The longest answer if none is set, in words. */
  readonly longest?: string
  /** An example. */
  readonly extraBody: string
}

export const modelFields = ({ baseUrl, extraBody, longest = "the service decides", path }: Words) =>
  ({
    base_url: {
      ...address({ label: "Base URL", description: `The address that ends before ${path}.` }),
      required: false,
      default: baseUrl
    },
    temperature: optionalText({ label: "Temperature", description: "Empty: the service decides.", pattern: decimal }),
    max_tokens: tokenLimit("Longest answer", `In tokens. Empty: ${longest}.`),
    extra_body: {
      ...optionalText({ label: "Further members of the request", description: "A JSON object.", placeholder: extraBody }),
      type: "textarea"
    }
  }) as const

interface Config {
  readonly model: string
  readonly api_key: string
  readonly base_url: string
  readonly temperature: string
  readonly max_tokens: string
  readonly extra_body: string
}

const isUsable = (baseUrl: URL | null): boolean =>
  baseUrl !== null && ["http:", "https:"].includes(baseUrl.protocol) && baseUrl.username === "" && baseUrl.password === ""
const bodyIn = (text: string): unknown => (text.trim() === "" ? {} : parse(text))

/** What is wrong with an address or a JSON object that is text of the right form. */
export const faultsOf = ({ base_url, extra_body }: Pick<Config, "base_url" | "extra_body">) => [
  ...(isUsable(URL.parse(base_url)) ? [] : [{ field: "base_url", message: "Input should be an http:// or https:// address" }]),
  ...(isObject(bodyIn(extra_body)) ? [] : [{ field: "extra_body", message: "Input should be a JSON object" }])
]

export interface ModelSettings {
  /** The address that the protocol's path is appended to. */
  readonly baseUrl: URL
  /** Empty for servers that need none. */
  readonly apiKey: string
  readonly model: string
  /** Undefined: the service decides. */
  readonly temperature: number | undefined
  /** Undefined: the service decides. */
  readonly maxTokens: number | undefined
  /** Further members of the body, such as `reasoning_effort`. */
  readonly extraBody: JsonObject
}

const numberIn = (field: string): number | undefined => (field.trim() === "" ? undefined : Number(field))

/** The settings in a configuration without faults. */
export const settingsOf = (config: Config): ModelSettings => {
  const extraBody = bodyIn(config.extra_body)
  return {
    baseUrl: new URL(config.base_url),
    apiKey: config.api_key,
    model: config.model,
    temperature: numberIn(config.temperature),
    maxTokens: numberIn(config.max_tokens),
    extraBody: isObject(extraBody) ? extraBody : {}
  }
}
