import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { tryKey } from "#adapters/voice/shared/tryKey.ts"

interface Config {
  readonly api_key: string
  readonly base_url: string
}

/** A key that may not read it is told so by name, and is a good one: https://elevenlabs.io/docs/api-reference/models/list */
export const tryElevenLabsKey = ({ api_key, base_url }: Config, { egress }: ServiceHost) =>
  tryKey({ baseUrl: base_url, path: "/v1/models", headers: { "xi-api-key": api_key }, egress })
