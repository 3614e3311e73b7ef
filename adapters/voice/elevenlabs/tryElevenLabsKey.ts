import { keyTrial } from "#adapters/voice/shared/tryKey.ts"

/** A key that may not read it is told so by name, and is a good one: https://elevenlabs.io/docs/api-reference/models/list */
export const tryElevenLabsKey = keyTrial("/v1/models", (key) => ({ "xi-api-key": key }))
