/** One line of the audit log: as it is recorded, and as it is read. */
import type { ApiKeyId, Caller, UserId } from "./Caller.ts"

export interface AuditEntry {
  /** For a refused login, the account that was tried. */
  readonly caller: Pick<Caller, "organizationId"> & Partial<Caller>
  /** The operation's name, such as `startCampaign`. */
  readonly action: string
  /** The kind of resource, such as `campaigns`. */
  readonly resourceKind: string
  readonly resourceId: string | undefined
  /** The caller's network address. */
  readonly address?: string | undefined
}

export interface AuditRecord {
  readonly id: number
  readonly at: Date
  readonly userId: UserId | null
  /** The user's current e-mail address. */
  readonly userEmail: string | null
  readonly apiKeyId: ApiKeyId | null
  readonly apiKeyName: string | null
  readonly action: string
  readonly resourceKind: string
  readonly resourceId: string | null
  readonly address: string | null
}
