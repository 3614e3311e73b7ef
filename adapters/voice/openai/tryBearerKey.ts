import { keyTrial } from "#adapters/voice/shared/tryKey.ts"

/** Every server of OpenAI's interface has a list of its models, which needs the key. */
export const tryBearerKey = keyTrial(
  "/models",
  (key): Readonly<Record<string, string>> => (key === "" ? {} : { authorization: `Bearer ${key}` })
)
