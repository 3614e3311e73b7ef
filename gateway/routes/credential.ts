/** /api/v1/credentials */
import { Effect } from "effect"
import Type from "typebox"
import { Credentials } from "#core/credential/Credentials.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { listed, pageOf, PageQuery } from "#gateway/wire/Page.ts"
import {
  CreateCredential,
  credentialChangesOf,
  CredentialDeleted,
  CredentialPath,
  CredentialWire,
  credentialWire,
  newCredentialOf,
  UpdateCredential
} from "#gateway/wire/Credential.ts"

export const credentialRoutes = tagged({ name: "Credentials", about: "Secrets with which tools reach other services." }, [
  list({
    path: "/api/v1/credentials/",
    name: "listCredentials",
    summary: "List credentials, by name",
    query: PageQuery,
    success: Type.Array(CredentialWire),
    handle: ({ caller, query }) =>
      Credentials.use((_) => _.list(caller.organizationId, pageOf(query))).pipe(
        Effect.map((credentials) => listed(query, credentials, (shown) => shown.map(credentialWire)))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/credentials/",
    name: "createCredential",
    summary: "Create a credential",
    needs: "admin",
    body: CreateCredential,
    success: CredentialWire,
    errors: ["CredentialDataRefused", "CredentialHostInvalid", "CredentialNameTaken"],
    handle: ({ body, caller }) =>
      Credentials.use((_) => _.create(caller.organizationId, newCredentialOf(body))).pipe(Effect.map(credentialWire))
  }),
  route({
    method: "get",
    path: "/api/v1/credentials/:credential_uuid",
    name: "getCredential",
    summary: "Read a credential, without its secrets",
    params: CredentialPath,
    success: CredentialWire,
    errors: ["CredentialNotFound"],
    handle: ({ caller, params }) =>
      Credentials.use((_) => _.get(caller.organizationId, params.credential_uuid)).pipe(Effect.map(credentialWire))
  }),
  route({
    method: "put",
    path: "/api/v1/credentials/:credential_uuid",
    name: "updateCredential",
    summary: "Change a credential",
    needs: "admin",
    params: CredentialPath,
    body: UpdateCredential,
    success: CredentialWire,
    errors: ["CredentialNotFound", "CredentialDataRefused", "CredentialHostInvalid", "CredentialNameTaken"],
    handle: ({ body, caller, params }) =>
      Credentials.use((_) => _.update(caller.organizationId, params.credential_uuid, credentialChangesOf(body))).pipe(
        Effect.map(credentialWire)
      )
  }),
  route({
    method: "delete",
    path: "/api/v1/credentials/:credential_uuid",
    name: "deleteCredential",
    summary: "Delete a credential",
    description: "Tools that refer to it keep their reference.",
    needs: "admin",
    params: CredentialPath,
    success: CredentialDeleted,
    errors: ["CredentialNotFound"],
    handle: ({ caller, params }) =>
      Credentials.use((_) => _.remove(caller.organizationId, params.credential_uuid)).pipe(
        Effect.map(({ uuid }) => ({ status: "deleted" as const, uuid }))
      )
  })
])
