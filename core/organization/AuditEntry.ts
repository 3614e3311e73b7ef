/** One line of the audit log: as it is recorded, and as it is read. */
import type { ApiKeyId, Caller, UserId } from "./Caller.ts"

export interface AuditEntry {
  /** For a refused log-in, as whom it was tried. */
  readonly caller: Pick<Caller, "organizationId"> & Partial<Caller>
  /** The operation's name, `startCampaign`. */
  readonly action: string
  /** `campaigns`. */
  readonly resourceKind: string
  readonly resourceId: string | undefined
  /** The network address of who asked. */
  readonly address?: string | undefined
}

export interface AuditRecord {
  readonly id: number
  readonly at: Date
  readonly userId: UserId | null
  /** As it is now. */
  readonly userEmail: string | null
  readonly apiKeyId: ApiKeyId | null
  readonly apiKeyName: string | null
  readonly action: string
  readonly resourceKind: string
  readonly resourceId: string | null
  readonly address: string | null
}
