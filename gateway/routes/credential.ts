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
    description: "What tools and webhooks authenticate with, without its secrets.",
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
    description:
      "Its secrets are stored encrypted and are never shown again. `allowed_hosts` restricts where it is sent. 409 if the name is taken, 422 if the data do not fit the type.",
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
    description: "Its name, type and allowed hosts. 404 if the organization has no such credential.",
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
    description:
      "Members that are left out stay as they are. Requests of tools and webhooks use it from now on. 404 if there is no such credential, 409 if the name is taken, 422 if the data do not fit the type.",
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
    description: "Tools that refer to it keep their reference. 404 if the organization has no such credential.",
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
