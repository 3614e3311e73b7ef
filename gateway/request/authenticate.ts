/**
 * Identifies the caller by an API key in `X-API-Key`, which takes precedence; or, in `Authorization`, with or without `Bearer`, by an API key
 * or the token of a logged-in user.
 */
import { Effect } from "effect"
import { subscriberOf } from "#core/egress/Network.ts"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { CurrentAddress } from "#core/organization/CurrentTenant.ts"
import { Users } from "#core/organization/Users.ts"
import type { TooManyWrongKeys } from "#core/organization/WrongKeys.ts"
import { NotAuthenticated } from "./Refusal.ts"

/** The services that authentication needs. */
export type Identities = ApiKeys | Users
type Headers = Readonly<Record<string, string>>

export const credentialHeaders = ["x-api-key", "authorization"] as const

const refused = (detail: string) => Effect.fail(new NotAuthenticated({ detail }))

type Identified<R> = Effect.Effect<Caller, NotAuthenticated | TooManyWrongKeys, R>

const identify = (key: string, address: string, isFresh: boolean, detail: string): Identified<ApiKeys> =>
  ApiKeys.use((keys) => keys.authenticate(key, subscriberOf(address), isFresh)).pipe(
    // Unknown keys are bounded (see `WrongKeys`), and a known key must not queue behind unknown ones from the same address.
    Effect.provideService(CurrentAddress, undefined),
    Effect.catchTag("InvalidApiKey", () => refused(detail))
  )

/** A JWT: three parts, of which the first is a JSON object in base64. */
const isToken = (text: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(text)

const recognize = (token: string, address: string, isFresh: boolean): Identified<Users> =>
  Users.use((users) => users.authenticate(token, subscriberOf(address), isFresh)).pipe(
    Effect.catchTags({
      InvalidToken: () => refused("Invalid or expired token"),
      UserNotFound: () => refused("User not found"),
      NoOrganization: () => refused("No organization selected")
    })
  )

/** `address`: unknown keys and tokens are counted against it. `isFresh`: what was true a second ago is not enough. */
export const authenticate = (headers: Headers, address: string, isFresh = false): Identified<Identities> => {
  const key = headers["x-api-key"]
  if (key !== undefined) return identify(key, address, isFresh, "Invalid or expired API key")
  const authorization = headers["authorization"]
  if (authorization === undefined) return refused("Authorization header required")
  const token = authorization.replace(/^bearer\s*/i, "").trim()
  if (token === "") return refused("Invalid authorization token")
  return isToken(token) ? recognize(token, address, isFresh) : identify(token, address, isFresh, "Invalid or expired token")
}

/** For routes that accept only a key in `X-API-Key`. */
export const authenticateKey = (headers: Headers, address: string, isFresh = false): Identified<ApiKeys> =>
  identify(headers["x-api-key"] ?? "", address, isFresh, "Invalid API key")
