/** /api/v1/user/api-keys */
import { Effect } from "effect"
import Type from "typebox"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  ApiKeyListQuery,
  ApiKeyPath,
  ApiKeyWire,
  apiKeyWire,
  Changed,
  changed,
  CreateApiKey,
  newApiKeyOf,
  NewApiKeyWire,
  newApiKeyWire
} from "#gateway/wire/ApiKey.ts"

export const apiKeyRoutes = tagged({ name: "API keys", about: "API keys for programs, each with a role." }, [
  route({
    method: "get",
    path: "/api/v1/user/api-keys",
    name: "listApiKeys",
    summary: "List API keys, oldest first",
    description:
      "By their first characters, with when they were last used; a whole key is shown only when it is created. Archived keys only if asked for.",
    query: ApiKeyListQuery,
    success: Type.Array(ApiKeyWire),
    handle: ({ caller, query }) =>
      ApiKeys.use((_) => _.list(caller.organizationId, query.include_archived)).pipe(Effect.map((keys) => keys.map(apiKeyWire)))
  }),
  route({
    method: "post",
    path: "/api/v1/user/api-keys",
    name: "createApiKey",
    summary: "Create an API key",
    description:
      "A key cannot have more permissions than its creator, and the key of a user never exceeds that user's current permissions. A key that is created with another key expires with it at the latest.",
    needs: "admin",
    body: CreateApiKey,
    success: NewApiKeyWire,
    errors: ["ApiKeyExpired", "QuotaFull", "RoleTooLow", "ScopeMissing"],
    handle: ({ body, caller }) => ApiKeys.use((_) => _.create(caller, newApiKeyOf(body))).pipe(Effect.map(newApiKeyWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/user/api-keys/:api_key_id",
    name: "archiveApiKey",
    summary: "Archive an API key, which is refused from then on",
    description: "It can be reactivated later. 403 for a key whose role is above the caller's, 404 if the organization has no such key.",
    needs: "admin",
    params: ApiKeyPath,
    success: Changed,
    errors: ["ApiKeyNotFound", "RoleTooLow"],
    handle: ({ caller, params }) =>
      Effect.as(
        ApiKeys.use((_) => _.archive(caller, params.api_key_id)),
        changed("API key archived successfully")
      )
  }),
  route({
    method: "put",
    path: "/api/v1/user/api-keys/:api_key_id/reactivate",
    name: "reactivateApiKey",
    summary: "Reactivate an archived API key",
    description:
      "It is accepted again at once. 403 for a key that reaches further than the caller's role and scopes, 409 if the organization may have no further key, 404 if it has no such key.",
    needs: "admin",
    params: ApiKeyPath,
    success: Changed,
    errors: ["ApiKeyNotFound", "QuotaFull", "RoleTooLow"],
    handle: ({ caller, params }) =>
      Effect.as(
        ApiKeys.use((_) => _.reactivate(caller, params.api_key_id)),
        changed("API key reactivated successfully")
      )
  })
])
