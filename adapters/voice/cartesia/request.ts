/** What Cartesia's voices and recognizers are asked with: https://docs.cartesia.ai/use-the-api/api-conventions */
import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { tryKey } from "#adapters/voice/shared/tryKey.ts"

interface Config {
  readonly api_key: string
  readonly base_url: string
}

export const headersOf = (apiKey: string) => ({ "x-api-key": apiKey, "cartesia-version": "2026-03-01" })

export const tryCartesiaKey = ({ api_key, base_url }: Config, { egress }: ServiceHost) =>
  tryKey({ baseUrl: base_url, path: "/voices?limit=1", headers: headersOf(api_key), egress })
