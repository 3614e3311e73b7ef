/** A key that requests carry. It is shown once, when it is made; what is kept is its hash. */
import { Effect, Schema } from "effect"
import { newSecret } from "./Secret.ts"
import type { ApiKeyId } from "./Caller.ts"
import type { Role } from "./Role.ts"
import type { Scope } from "./Scope.ts"

export interface ApiKey {
  readonly id: ApiKeyId
  readonly name: string
  /** How the key begins. */
  readonly keyPrefix: string
  readonly role: Role
  /** Null: good for everything that the role allows. */
  readonly scopes: ReadonlyArray<Scope> | null
  /** It sets what organizations may use. */
  readonly isOperator: boolean
  readonly createdAt: Date
  /** Good to a minute. */
  readonly lastUsedAt: Date | null
  /** An archived key is refused. */
  readonly archivedAt: Date | null
  /** So is one that has expired. Null: it never does. */
  readonly expiresAt: Date | null
  readonly isActive: boolean
}

/** Unknown, archived, expired, empty, or of a user who is no member any more: which of these is nobody's business. */
export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()("InvalidApiKey", {}) {}
/** A key that is made has some time to live. */
export class ApiKeyExpired extends Schema.TaggedError<ApiKeyExpired>()("ApiKeyExpired", {}) {}
export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", {}) {}

const keyMark = "tlk_"
const shownOfKey = 8

export const newKey = Effect.map(newSecret(), (secret) => keyMark + secret)

/** Of a short key that an operator chose, less is shown. */
export const prefixOf = (key: string): string => key.slice(0, Math.min(shownOfKey, Math.floor(key.length / 4)))
