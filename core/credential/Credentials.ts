/** The credentials of an organization. A tool may name a deleted one: its requests are then not sent. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { Sealer } from "#core/Sealer.ts"
import { refusedAs } from "#core/uniqueness.ts"
import {
  type Credential,
  type CredentialData,
  CredentialDataRefused,
  CredentialNameTaken,
  CredentialNotFound,
  type CredentialType,
  missingField
} from "./Credential.ts"
import { CredentialHostInvalid, readHost } from "./CredentialHosts.ts"
import * as store from "./CredentialStore.ts"
import { isUuid } from "#core/Uuid.ts"

export interface NewCredential {
  readonly name: string
  readonly description?: string | undefined
  readonly credentialType: CredentialType
  readonly data: CredentialData
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

/** Omitted fields stay unchanged. `data` is replaced as a whole. */
export interface CredentialChanges {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly credentialType?: CredentialType | undefined
  readonly data?: CredentialData | undefined
  /** The list is replaced as a whole. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

export class Credentials extends Context.Service<
  Credentials,
  {
    readonly create: (
      organizationId: OrganizationId,
      credential: NewCredential
    ) => Effect.Effect<Credential, CredentialDataRefused | CredentialHostInvalid | CredentialNameTaken>
    /** Sorted by name. */
    readonly list: (organizationId: OrganizationId, page: Page) => Effect.Effect<ReadonlyArray<Credential>>
    readonly get: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Credential, CredentialNotFound>
    readonly update: (
      organizationId: OrganizationId,
      uuid: string,
      changes: CredentialChanges
    ) => Effect.Effect<Credential, CredentialDataRefused | CredentialHostInvalid | CredentialNameTaken | CredentialNotFound>
    readonly remove: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Pick<Credential, "uuid">, CredentialNotFound>
    /** Fails unless all of them are the organization's. */
    readonly mustHave: (organizationId: OrganizationId, uuids: ReadonlyArray<string>) => Effect.Effect<void, CredentialNotFound>
  }
>()("core/credential/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      return Credentials.of({
        create: Effect.fn("Credentials.create")((organizationId, credential) => sealing(create(sql, organizationId, credential))),
        list: Effect.fn("Credentials.list")((organizationId, page) => Effect.orDie(store.list(sql, organizationId, page))),
        get: Effect.fn("Credentials.get")(function* (organizationId, uuid) {
          const found = isUuid(uuid) ? yield* Effect.orDie(store.find(sql, organizationId, uuid)) : undefined
          return found ?? (yield* new CredentialNotFound({ uuid }))
        }),
        update: Effect.fn("Credentials.update")((organizationId, uuid, changes) => sealing(update(sql, organizationId, uuid, changes))),
        remove: Effect.fn("Credentials.remove")(function* (organizationId, uuid) {
          const gone = isUuid(uuid) ? yield* Effect.orDie(store.remove(sql, organizationId, uuid)) : undefined
          return gone ?? (yield* new CredentialNotFound({ uuid }))
        }),
        mustHave: Effect.fn("Credentials.mustHave")(function* (organizationId, uuids) {
          const named = new Set(uuids.map((uuid) => uuid.toLowerCase()))
          const [first] = named
          if (first === undefined) return
          const known = [...named].every(isUuid) ? yield* Effect.orDie(store.count(sql, organizationId, [...named])) : 0
          if (known < named.size) return yield* new CredentialNotFound({ uuid: first })
        })
      })
    })
  )
}

type Sql = SqlClient.SqlClient

const checked = ({ credentialType, data }: Pick<NewCredential, "credentialType" | "data">) => {
  const field = missingField(credentialType, data)
  return field === undefined ? Effect.void : Effect.fail(new CredentialDataRefused({ credentialType, field }))
}

/** The hosts in normalized form, without duplicates. */
const listed = Effect.fnUntraced(function* (hosts: ReadonlyArray<string>) {
  const invalid = hosts.find((host) => readHost(host) === undefined)
  if (invalid !== undefined) return yield* new CredentialHostInvalid({ host: invalid })
  return [...new Set(hosts.flatMap((host) => readHost(host) ?? []))]
})

const create = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, credential: NewCredential) {
    yield* checked(credential)
    const allowedHosts = yield* listed(credential.allowedHosts ?? [])
    const [row] = yield* store.insert(sql, organizationId, { ...credential, allowedHosts, description: credential.description ?? null })
    return row ?? (yield* Effect.die("An inserted credential was not returned"))
  },
  (create, _, __, { name }) => create.pipe(taken(name), Effect.catchTag("SqlError", Effect.die))
)

const update = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, uuid: string, changes: CredentialChanges) {
    const before = isUuid(uuid) ? yield* store.lock(sql, organizationId, uuid) : undefined
    if (before === undefined) return yield* new CredentialNotFound({ uuid })
    const credentialType = changes.credentialType ?? before.credentialType
    const after = {
      name: changes.name ?? before.name,
      description: changes.description ?? before.description,
      credentialType,
      allowedHosts: changes.allowedHosts === undefined ? before.allowedHosts : yield* listed(changes.allowedHosts),
      // A secret of another type is useless, and is dropped.
      data: changes.data ?? (credentialType === before.credentialType ? before.data : {})
    }
    yield* checked(after)
    const [row] = yield* store.update(sql, organizationId, uuid, after)
    return row ?? (yield* Effect.die("A locked credential was not updated"))
  },
  (update, sql, _, __, { name }) => sql.withTransaction(update).pipe(taken(name), Effect.catchTag("SqlError", Effect.die))
)

/** Two credentials of one organization never have the same name. */
const taken = (name = "") => refusedAs({ credentials_name: () => new CredentialNameTaken({ name }) })
