/** Who makes a request, and for which organization, as authentication established it. */
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
  /** The key of the request; absent for a user who logged in. */
  readonly apiKeyId?: ApiKeyId
  /** Who logged in, or created the key; absent for a key that no user created. */
  readonly userId?: UserId
  /** Set for a user who logged in. */
  readonly sessionId?: SessionId
  /** The key's scopes. If absent, it has all of them. */
  readonly scopes?: ReadonlyArray<Scope>
  /** The key is the operator's, who sets the quotas of organizations. A user is never an operator, whatever their role. */
  readonly isOperator?: true
  /** The organization's request quotas. If absent, the defaults apply. */
  readonly allowance?: Allowance
}
