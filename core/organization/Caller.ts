/** Who asks, and for which organization: what authentication proves of a request. */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Allowance } from "./Quota.ts"
import type { Role } from "./Role.ts"
import type { Scope } from "./Scope.ts"
import type { SessionId } from "./Session.ts"

export const ApiKeyId = Schema.Int.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type
export const UserId = Schema.Int.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export interface Caller {
  readonly organizationId: OrganizationId
  readonly role: Role
  /** The key that was shown; absent for a user who logged in. */
  readonly apiKeyId?: ApiKeyId
  /** Who logged in, or made the key; absent for a key that no user made. */
  readonly userId?: UserId
  /** Of a user who logged in. */
  readonly sessionId?: SessionId
  /** What the key is good for; absent: for everything that its role allows. */
  readonly scopes?: ReadonlyArray<Scope>
  /** The key is one of the operator's, who sets what organizations may use. No user is one, whatever the role. */
  readonly isOperator?: true
  /** What the organization may ask for; absent: as much as one for which nothing is set. */
  readonly allowance?: Allowance
}
