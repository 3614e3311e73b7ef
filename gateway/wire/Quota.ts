/** The quotas of organizations, and how much of them is used. */
import Type, { type Static } from "typebox"
import type { OrganizationId } from "#core/Id.ts"
import { eachOf, lowerableQuotas, quotaDeclarations, type QuotaName, quotaNames } from "#core/organization/Quota.ts"
import type { OrganizationQuotas } from "#core/organization/Quotas.ts"
import { clearable, id, instant, nullable, optional, orNull } from "#gateway/request/Field.ts"

const useWire = (name: QuotaName) =>
  Type.Object(
    {
      limit: Type.Integer({ description: "The limit in effect." }),
      allowed: Type.Integer({ description: "The limit that the operator allows." }),
      own: nullable(Type.Integer({ description: "The limit that the organization has set for itself." })),
      used: nullable(Type.Integer({ description: "Null for quotas whose use is not counted." }))
    },
    { description: quotaDeclarations[name].description }
  )

export const QuotasWire = Type.Object(eachOf(quotaNames, useWire), { title: "Quotas" })

const settable = (name: QuotaName) => {
  const { description, maximum, minimum } = quotaDeclarations[name]
  return clearable(Type.Integer({ minimum, maximum, description }))
}
export const SetQuotas = Type.Object(eachOf(quotaNames, settable), {
  title: "SetQuotas",
  description: "A quota that is left out stays as it is. Null: the default."
})
export const SetOwnQuotas = Type.Object(eachOf(lowerableQuotas, settable), {
  title: "SetOwnQuotas",
  description: "A quota that is left out stays as it is. Null: as much as the operator allows."
})

export const OrganizationPath = Type.Object({ organization_id: id<OrganizationId>() })

export const OrganizationQuotasWire = Type.Object(
  { id: id<OrganizationId>(), name: Type.String(), created_at: instant(), quotas: QuotasWire },
  { title: "OrganizationQuotas" }
)

export const NewOperatorKey = Type.Object({ name: Type.String({ maxLength: 255 }) }, { title: "NewOperatorKey" })

export const OrganizationListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
  after: optional(id<OrganizationId>("The last organization of the previous page."))
})
export const OrganizationListWire = Type.Object({ organizations: Type.Array(OrganizationQuotasWire) }, { title: "OrganizationList" })

/** `connections`: how many connections on which the organization follows events this engine has open. */
export const quotasWire = ({ quotas }: OrganizationQuotas, connections: number): Static<typeof QuotasWire> =>
  eachOf(quotaNames, (name) => ({
    ...quotas[name],
    used: quotaDeclarations[name].counted === "connections" ? connections : orNull(quotas[name].used)
  }))

export const organizationQuotasWire = (organization: OrganizationQuotas, connections: number): Static<typeof OrganizationQuotasWire> => ({
  id: organization.id,
  name: organization.name,
  created_at: organization.createdAt.toISOString(),
  quotas: quotasWire(organization, connections)
})
