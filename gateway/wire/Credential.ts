/** `/credentials`: secrets go in and never come out. */
import Type, { type Static } from "typebox"
import { type Credential, credentialTypes } from "#core/credential/Credential.ts"
import { mostHosts } from "#core/credential/CredentialHosts.ts"
import type { CredentialChanges, NewCredential } from "#core/credential/Credentials.ts"
import { instant, instantOf, nullable, optional, orUndefined, secretObject } from "#gateway/request/Field.ts"

export const CredentialPath = Type.Object({ credential_uuid: Type.String() })

const name = Type.String({ minLength: 1, maxLength: 255 })
const type = Type.Enum([...credentialTypes])
const hosts = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: mostHosts,
  description:
    "Hosts that the credential may be sent to: `crm.example.com` means https on port 443; append any other port after a colon. An administrator who saves an agent or tool that names the credential adds its host."
})
const data = secretObject(
  "`none`: nothing; `api_key`: `header_name`, `api_key`; `bearer_token`: `token`; `basic_auth`: `username`, `password`; " +
    "`custom_header`: `header_name`, `header_value`. Never read out again."
)

export const CreateCredential = Type.Object(
  { name, description: optional(Type.String()), credential_type: type, credential_data: data, allowed_hosts: optional(hosts) },
  { title: "CreateCredential" }
)
export const UpdateCredential = Type.Object(
  {
    name: optional(name),
    description: optional(Type.String()),
    credential_type: optional(type),
    credential_data: optional(data),
    allowed_hosts: optional(hosts)
  },
  { title: "UpdateCredential", description: "Fields that are left out or null stay as they are. A new type needs new data." }
)

export const newCredentialOf = (body: Static<typeof CreateCredential>): NewCredential => ({
  name: body.name,
  description: orUndefined(body.description),
  credentialType: body.credential_type,
  data: body.credential_data,
  allowedHosts: orUndefined(body.allowed_hosts)
})
export const credentialChangesOf = (body: Static<typeof UpdateCredential>): CredentialChanges => ({
  name: orUndefined(body.name),
  description: orUndefined(body.description),
  credentialType: orUndefined(body.credential_type),
  data: orUndefined(body.credential_data),
  allowedHosts: orUndefined(body.allowed_hosts)
})

export const CredentialWire = Type.Object(
  {
    uuid: Type.String({ format: "uuid", description: "How tools refer to it." }),
    name: Type.String(),
    description: nullable(Type.String()),
    credential_type: type,
    allowed_hosts: Type.Array(Type.String(), { description: "The credential is sent to these hosts only." }),
    created_at: instant(),
    updated_at: nullable(instant())
  },
  { title: "Credential" }
)

export const credentialWire = (credential: Credential): Static<typeof CredentialWire> => ({
  uuid: credential.uuid,
  name: credential.name,
  description: credential.description,
  credential_type: credential.credentialType,
  allowed_hosts: credential.allowedHosts.slice(),
  created_at: credential.createdAt.toISOString(),
  updated_at: instantOf(credential.updatedAt ?? undefined)
})

export const CredentialDeleted = Type.Object(
  { status: Type.Literal("deleted"), uuid: Type.String({ format: "uuid" }) },
  { title: "CredentialDeleted" }
)
