import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { tryKey } from "#adapters/voice/shared/tryKey.ts"

interface Config {
  readonly api_key: string
  readonly base_url: string
}

/** Every key may read what it is itself: https://developers.deepgram.com/reference/auth/tokens/details */
export const tryDeepgramKey = ({ api_key, base_url }: Config, { egress }: ServiceHost) =>
  tryKey({ baseUrl: base_url, path: "/v1/auth/token", headers: { authorization: `Token ${api_key}` }, egress })
