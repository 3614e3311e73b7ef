/** Who asks, and for which organization: what authentication proves of a request. */
import { Schema } from "effect"
import type { OrganizationId } from "../Id.ts"

export const ApiKeyId = Schema.Int.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export interface Caller {
  readonly organizationId: OrganizationId
  readonly apiKeyId: ApiKeyId
}
