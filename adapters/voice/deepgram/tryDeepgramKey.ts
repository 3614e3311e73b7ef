import { keyTrial } from "#adapters/voice/shared/tryKey.ts"

/** Every key may read what it is itself: https://developers.deepgram.com/reference/auth/tokens/details */
export const tryDeepgramKey = keyTrial("/v1/auth/token", (key) => ({ authorization: `Token ${key}` }))
