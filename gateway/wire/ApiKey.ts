/** API keys. */
import { Redacted } from "effect"
import Type, { type Static } from "typebox"
import type { ApiKey } from "#core/organization/ApiKey.ts"
import type { ApiKeyId } from "#core/organization/Caller.ts"
import type { NewApiKey } from "#core/organization/ApiKeys.ts"
import { RoleWire } from "./Account.ts"
import { id, instant, instantOf, nullable, optional, orUndefined } from "./Field.ts"

export const ApiKeyPath = Type.Object({ api_key_id: id<ApiKeyId>() })
export const ApiKeyListQuery = Type.Object({ include_archived: Type.Boolean({ default: false }) })

export const CreateApiKey = Type.Object(
  { name: Type.String({ maxLength: 255 }), role: optional(RoleWire) },
  { title: "CreateApiKey", description: "Left out, `role` is that of the caller, up to `admin`." }
)

export const newApiKeyOf = ({ name, role }: Static<typeof CreateApiKey>): NewApiKey => ({ name, role: orUndefined(role) })

export const ApiKeyWire = Type.Object(
  {
    id: id<ApiKeyId>(),
    name: Type.String(),
    key_prefix: Type.String(),
    role: RoleWire,
    is_active: Type.Boolean(),
    created_at: instant(),
    last_used_at: nullable(instant()),
    archived_at: nullable(instant())
  },
  { title: "ApiKey" }
)

export const apiKeyWire = (key: ApiKey): Static<typeof ApiKeyWire> => ({
  id: key.id,
  name: key.name,
  key_prefix: key.keyPrefix,
  role: key.role,
  is_active: key.archivedAt === null,
  created_at: key.createdAt.toISOString(),
  last_used_at: instantOf(orUndefined(key.lastUsedAt)),
  archived_at: instantOf(orUndefined(key.archivedAt))
})

export const NewApiKeyWire = Type.Object(
  {
    id: id<ApiKeyId>(),
    name: Type.String(),
    key_prefix: Type.String(),
    api_key: Type.String({ description: "Shown only now." }),
    role: RoleWire,
    created_at: instant()
  },
  { title: "NewApiKey" }
)

export const newApiKeyWire = ({ key, made }: { readonly made: ApiKey; readonly key: Redacted.Redacted }): Static<typeof NewApiKeyWire> => ({
  id: made.id,
  name: made.name,
  key_prefix: made.keyPrefix,
  api_key: Redacted.value(key),
  role: made.role,
  created_at: made.createdAt.toISOString()
})

export const Changed = Type.Object({ success: Type.Literal(true), message: Type.String() }, { title: "Changed" })
export const changed = (message: string): Static<typeof Changed> => ({ success: true, message })
