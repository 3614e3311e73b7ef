/** Who may do what here, and who did: keys, users, members, settings and the audit log. */
import { Layer } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { AuditLog } from "./AuditLog.ts"
import { Invitations } from "./Invitations.ts"
import { Members } from "./Members.ts"
import { ModelConfigurations } from "./ModelConfigurations.ts"
import { Operators } from "./Operators.ts"
import { OrganizationSettings } from "./OrganizationSettings.ts"
import { Quotas } from "./Quotas.ts"
import { Users } from "./Users.ts"

export type Accounts = ApiKeys | AuditLog | Invitations | Members | ModelConfigurations | Operators | OrganizationSettings | Quotas | Users

/** Each once: members and keys are forgotten where they were remembered. */
export const layer = Layer.mergeAll(
  Invitations.layer,
  Members.layer,
  ModelConfigurations.layer,
  Operators.layer,
  OrganizationSettings.layer,
  Quotas.layer
).pipe(Layer.provideMerge(Layer.merge(ApiKeys.layer, Users.layer)), Layer.provideMerge(AuditLog.layer))
