/** /api/v1/operator: the quotas of organizations, and the operator's keys. */
import { Effect } from "effect"
import Type from "typebox"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { Operators } from "#core/organization/Operators.ts"
import { Quotas } from "#core/organization/Quotas.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { ApiKeyPath, ApiKeyWire, apiKeyWire, Changed, changed, NewApiKeyWire, newApiKeyWire } from "#gateway/wire/ApiKey.ts"
import { listedById } from "#gateway/wire/Page.ts"
import {
  NewOperatorKey,
  OrganizationListQuery,
  OrganizationListWire,
  OrganizationPath,
  OrganizationQuotasWire,
  organizationQuotasWire,
  SetQuotas
} from "#gateway/wire/Quota.ts"

export const operatorRoutes = tagged({ name: "Operator", about: "The quotas of organizations, and the keys that set them." }, [
  list({
    path: "/api/v1/operator/organizations",
    name: "listOrganizationQuotas",
    summary: "List all organizations with their quotas and usage",
    description: "What each is allowed and uses, in the order of their ids; `after` continues behind that organization.",
    needs: "operator",
    query: OrganizationListQuery,
    success: OrganizationListWire,
    handle: ({ query }) =>
      Effect.gen(function* () {
        const { following } = yield* LiveEvents
        const found = yield* Quotas.use((_) => _.list(query.after ?? 0, query.limit + 1))
        return listedById({ ...query, offset: 0 }, found, (shown) => ({
          organizations: shown.map((one) => organizationQuotasWire(one, following(one.id)))
        }))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/operator/organizations/:organization_id/quotas",
    name: "getOrganizationQuotas",
    summary: "Read the quotas and usage of an organization",
    description: "What the operator allows it, and how much of it is in use. 404 if there is no such organization.",
    needs: "operator",
    params: OrganizationPath,
    success: OrganizationQuotasWire,
    errors: ["OrganizationNotFound"],
    handle: ({ params: { organization_id: id } }) =>
      Effect.gen(function* () {
        const { following } = yield* LiveEvents
        return organizationQuotasWire(yield* Quotas.use((_) => _.get(id)), following(id))
      })
  }),
  route({
    method: "put",
    path: "/api/v1/operator/organizations/:organization_id/quotas",
    name: "setOrganizationQuotas",
    summary: "Set the quotas of an organization",
    description:
      "Takes effect at once. Existing data stays, and calls in progress continue: an organization above a quota gets no more. Its own audit log records the change.",
    needs: "operator",
    params: OrganizationPath,
    body: SetQuotas,
    success: OrganizationQuotasWire,
    errors: ["OrganizationNotFound"],
    handle: ({ body, caller, params: { organization_id: id } }) =>
      Effect.gen(function* () {
        const { following } = yield* LiveEvents
        const set = yield* Quotas.use((_) => _.set(id, body))
        // The organization's people see the change, but not which key made it.
        const entry = { action: "setOrganizationQuotas", resourceKind: "operator", resourceId: String(id) }
        if (id !== caller.organizationId) yield* AuditLog.use((_) => _.record({ ...entry, caller: { organizationId: id } }))
        return organizationQuotasWire(set, following(id))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/operator/keys",
    name: "listOperatorKeys",
    summary: "List the operator's keys, including revoked ones, oldest first",
    description: "By their first characters, with when they were last used. A whole key is shown only when it is created.",
    needs: "operator",
    success: Type.Array(ApiKeyWire),
    handle: () => Operators.use(({ keys }) => keys).pipe(Effect.map((keys) => keys.map(apiKeyWire)))
  }),
  route({
    method: "post",
    path: "/api/v1/operator/keys",
    name: "createOperatorKey",
    summary: "Create another operator's key",
    description:
      "It belongs to the same organization as the key that creates it, has the role of an owner, does not expire, and belongs to no user.",
    needs: "operator",
    body: NewOperatorKey,
    success: NewApiKeyWire,
    errors: ["QuotaFull", "RoleTooLow"],
    handle: ({ body, caller }) => Operators.use((_) => _.create(caller, body.name)).pipe(Effect.map(newApiKeyWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/operator/keys/:api_key_id",
    name: "revokeOperatorKey",
    summary: "Revoke an operator's key, which is refused from then on",
    description: "The last one cannot be revoked. A start with another `API_KEY` replaces the first one.",
    needs: "operator",
    params: ApiKeyPath,
    success: Changed,
    errors: ["ApiKeyNotFound", "LastOperatorKey", "RoleTooLow"],
    handle: ({ caller, params }) =>
      Effect.as(
        Operators.use((_) => _.revoke(caller, params.api_key_id)),
        changed("Operator key revoked successfully")
      )
  })
])
