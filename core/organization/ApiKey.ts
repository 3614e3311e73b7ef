/** A key that requests carry. It is shown once, when it is created; only its hash is stored. */
import { Effect, Schema } from "effect"
import { newSecret } from "./Secret.ts"
import type { ApiKeyId } from "./Caller.ts"
import type { Role } from "./Role.ts"
import type { Scope } from "./Scope.ts"

export interface ApiKey {
  readonly id: ApiKeyId
  readonly name: string
  /** The first characters of the key. */
  readonly keyPrefix: string
  readonly role: Role
  /** Null: the key has every scope. */
  readonly scopes: ReadonlyArray<Scope> | null
  /** The key belongs to the operator, who sets the quotas of organizations. */
  readonly isOperator: boolean
  readonly createdAt: Date
  /** Accurate to a minute. */
  readonly lastUsedAt: Date | null
  /** An archived key is refused. */
  readonly archivedAt: Date | null
  /** An expired key is refused as well. Null: the key never expires. */
  readonly expiresAt: Date | null
  /** The key that it was created with, and as good as which it is. Null: none. */
  readonly madeWith: ApiKeyId | null
  readonly isActive: boolean
}

/** The key is unknown, archived, expired or empty, descends from such a key, or its user is no longer a member. Callers must not learn which. */
export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()("InvalidApiKey", {}) {}
/** A new key must expire in the future. */
export class ApiKeyExpired extends Schema.TaggedError<ApiKeyExpired>()("ApiKeyExpired", {}) {}
export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", {}) {}

const keyMark = "tlk_"
const shownOfKey = 8

export const newKey = Effect.map(newSecret(), (secret) => keyMark + secret)

/** Shows fewer characters of a short key, which an operator may have chosen. */
export const prefixOf = (key: string): string => key.slice(0, Math.min(shownOfKey, Math.floor(key.length / 4)))
