/** API keys. */
import { Redacted } from "effect"
import Type, { type Static } from "typebox"
import type { ApiKey } from "#core/organization/ApiKey.ts"
import type { ApiKeyId } from "#core/organization/Caller.ts"
import type { NewApiKey } from "#core/organization/ApiKeys.ts"
import { scopes } from "#core/organization/Scope.ts"
import { RoleWire } from "./Account.ts"
import { givenInstant, id, instant, instantOf, nullable, optional, orUndefined } from "#gateway/request/Field.ts"

export const ApiKeyPath = Type.Object({ api_key_id: id<ApiKeyId>() })
export const ApiKeyListQuery = Type.Object({ include_archived: Type.Boolean({ default: false }) })

export const CreateApiKey = Type.Object(
  {
    name: Type.String({ maxLength: 255 }),
    role: optional(RoleWire),
    scopes: optional(
      Type.Array(Type.Enum(scopes), {
        minItems: 1,
        maxItems: scopes.length,
        description:
          "What the key may do, within the permissions of its role: `read` requests that change nothing, `calls` start calls, `campaigns` create and change them and upload lists, `agents` create and change agents and what they use, `admin` everything else. If left out: everything."
      })
    ),
    expires_at: optional(givenInstant())
  },
  { title: "CreateApiKey", description: "If left out, `role` is the role of the caller, up to `admin`." }
)

export const newApiKeyOf = (given: Static<typeof CreateApiKey>): NewApiKey => ({
  name: given.name,
  role: orUndefined(given.role),
  scopes: orUndefined(given.scopes),
  expiresAt: given.expires_at === null ? undefined : new Date(given.expires_at)
})

const ScopesWire = nullable(Type.Array(Type.Enum(scopes), { description: "Null: everything that its role allows." }))

export const ApiKeyWire = Type.Object(
  {
    id: id<ApiKeyId>(),
    name: Type.String(),
    key_prefix: Type.String(),
    role: RoleWire,
    scopes: ScopesWire,
    is_operator: Type.Boolean({ description: "Whether the key can set the quotas of organizations." }),
    is_active: Type.Boolean({
      description:
        "False for a key that is archived or expired, or that was created with such a key, and once its user is no longer a member."
    }),
    created_with: nullable(id<ApiKeyId>()),
    created_at: instant(),
    last_used_at: nullable(instant()),
    archived_at: nullable(instant()),
    expires_at: nullable(instant())
  },
  { title: "ApiKey" }
)

export const apiKeyWire = (key: ApiKey): Static<typeof ApiKeyWire> => ({
  id: key.id,
  name: key.name,
  key_prefix: key.keyPrefix,
  role: key.role,
  scopes: key.scopes === null ? null : [...key.scopes],
  is_operator: key.isOperator,
  is_active: key.isActive,
  created_with: key.madeWith,
  created_at: key.createdAt.toISOString(),
  last_used_at: instantOf(orUndefined(key.lastUsedAt)),
  archived_at: instantOf(orUndefined(key.archivedAt)),
  expires_at: instantOf(orUndefined(key.expiresAt))
})

export const NewApiKeyWire = Type.Object(
  {
    id: id<ApiKeyId>(),
    name: Type.String(),
    key_prefix: Type.String(),
    api_key: Type.String({ description: "Shown only now." }),
    role: RoleWire,
    scopes: ScopesWire,
    created_at: instant(),
    expires_at: nullable(instant())
  },
  { title: "NewApiKey" }
)

export const newApiKeyWire = ({ key, made }: { readonly made: ApiKey; readonly key: Redacted.Redacted }): Static<typeof NewApiKeyWire> => ({
  id: made.id,
  name: made.name,
  key_prefix: made.keyPrefix,
  api_key: Redacted.value(key),
  role: made.role,
  scopes: made.scopes === null ? null : [...made.scopes],
  created_at: made.createdAt.toISOString(),
  expires_at: instantOf(orUndefined(made.expiresAt))
})

export const Changed = Type.Object({ success: Type.Literal(true), message: Type.String() }, { title: "Changed" })
export const changed = (message: string): Static<typeof Changed> => ({ success: true, message })
