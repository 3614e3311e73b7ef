/** What Cartesia's voices and recognizers are asked with: https://docs.cartesia.ai/use-the-api/api-conventions */
import { keyTrial } from "#adapters/voice/shared/tryKey.ts"

export const headersOf = (apiKey: string) => ({ "x-api-key": apiKey, "cartesia-version": "2026-03-01" })

export const tryCartesiaKey = keyTrial("/voices?limit=1", headersOf)
