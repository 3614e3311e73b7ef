/** The services of accounts: keys, users, members, settings and the audit log. */
import { Layer } from "effect"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { Invitations } from "#core/organization/Invitations.ts"
import { Members } from "#core/organization/Members.ts"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { Operators } from "#core/organization/Operators.ts"
import { OrganizationSettings } from "#core/organization/OrganizationSettings.ts"
import { Quotas } from "#core/organization/Quotas.ts"
import { ServicePrices } from "#core/usage/ServicePrices.ts"
import { Users } from "#core/organization/Users.ts"

export type Accounts =
  | ApiKeys
  | AuditLog
  | Invitations
  | Members
  | ModelConfigurations
  | Operators
  | OrganizationSettings
  | Quotas
  | ServicePrices
  | Users

// A single instance of each service, because a service that caches members or keys must be the one that is told to forget them.
export const layer = Layer.mergeAll(
  Invitations.layer,
  Members.layer,
  ModelConfigurations.layer,
  Operators.layer,
  OrganizationSettings.layer,
  Quotas.layer,
  ServicePrices.layer
).pipe(Layer.provideMerge(Layer.merge(ApiKeys.layer, Users.layer)), Layer.provideMerge(AuditLog.layer))
