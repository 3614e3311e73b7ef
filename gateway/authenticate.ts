/** Who asks: an API key in `X-API-Key`, which wins whenever it is there, or in `Authorization`, with or without `Bearer`. */
import { Effect } from "effect"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { NotAuthenticated } from "./Refusal.ts"

export const credentialHeaders = ["x-api-key", "authorization"] as const

const refused = (detail: string) => Effect.fail(new NotAuthenticated({ detail }))

const identify = (key: string, detail: string): Effect.Effect<Caller, NotAuthenticated, ApiKeys> =>
  ApiKeys.use((keys) => keys.authenticate(key)).pipe(Effect.catchTag("InvalidApiKey", () => refused(detail)))

export const authenticate = (headers: Readonly<Record<string, string>>): Effect.Effect<Caller, NotAuthenticated, ApiKeys> => {
  const key = headers["x-api-key"]
  if (key !== undefined) return identify(key, "Invalid or expired API key")
  const authorization = headers["authorization"]
  if (authorization === undefined) return refused("Authorization header required")
  const token = authorization.replace(/^bearer\s*/i, "").trim()
  return token === "" ? refused("Invalid authorization token") : identify(token, "Invalid or expired token")
}

/** For routes that take a key in `X-API-Key` as a header like any other, and judge it after the rest of the request. */
export const authenticateKey = (headers: Readonly<Record<string, string>>): Effect.Effect<Caller, NotAuthenticated, ApiKeys> =>
  identify(headers["x-api-key"] ?? "", "Invalid API key")
