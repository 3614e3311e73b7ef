import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { tryKey } from "#adapters/voice/shared/tryKey.ts"

interface Config {
  /** Empty for servers that need none. */
  readonly api_key: string
  readonly base_url: string
}

/** Every server of OpenAI's interface has a list of its models, which needs the key. */
export const tryBearerKey = ({ api_key, base_url }: Config, { egress }: ServiceHost) =>
  tryKey({ baseUrl: base_url, path: "/models", headers: api_key === "" ? {} : { authorization: `Bearer ${api_key}` }, egress })
