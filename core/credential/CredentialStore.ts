import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { newRowUuid, openedJson, type Place, sealedJson, Sealer } from "#core/Sealer.ts"
import type { Credential, CredentialData, CredentialType } from "./Credential.ts"

type Sql = SqlClient.SqlClient

interface CredentialValues {
  readonly name: string
  readonly description: string | null
  readonly credentialType: CredentialType
  readonly data: CredentialData
  readonly allowedHosts: ReadonlyArray<string>
}

type Stored<Row extends { readonly data: CredentialData }> = Omit<Row, "data"> & { readonly data: CredentialData | string }

const columns = (sql: Sql) => sql.literal("uuid, name, description, credential_type, allowed_hosts, created_at, updated_at")

const placeOf = (organizationId: OrganizationId, uuid: string): Place => ({
  of: "credentials",
  organizationId,
  id: uuid.toLowerCase()
})

/** The row with its data decrypted. */
const opened = <Row extends { readonly data: CredentialData | string }, E, R>(
  organizationId: OrganizationId,
  uuid: string,
  rows: Effect.Effect<ReadonlyArray<Row>, E, R>
) =>
  Effect.gen(function* () {
    const sealer = yield* Sealer
    const [row] = yield* rows
    return row === undefined ? undefined : { ...row, data: openedJson<CredentialData>(sealer, placeOf(organizationId, uuid), row.data) }
  })

export const insert = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, credential: CredentialValues) {
  const uuid = yield* newRowUuid(sql)
  return yield* sql<Credential>`
    INSERT INTO credentials (uuid, organization_id, name, description, credential_type, credential_data, allowed_hosts)
    VALUES (${uuid}::uuid, ${organizationId}, ${credential.name}, ${credential.description}, ${credential.credentialType},
      ${sealedJson(yield* Sealer, placeOf(organizationId, uuid), credential.data)}::text::jsonb, ${credential.allowedHosts}::text[])
    RETURNING ${columns(sql)}`
})

export const list = (sql: Sql, organizationId: OrganizationId, { limit, offset }: Page) => sql<Credential>`
  SELECT ${columns(sql)} FROM credentials WHERE organization_id = ${organizationId} ORDER BY name LIMIT ${limit} OFFSET ${offset}`

export const find = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  sql<Credential>`
    SELECT ${columns(sql)} FROM credentials WHERE organization_id = ${organizationId} AND uuid = ${uuid}::uuid`.pipe(
    Effect.map((rows) => rows[0])
  )

/** Includes the secret, for requests to the service that the credential belongs to. */
export const secretOf = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  opened(
    organizationId,
    uuid,
    sql<Stored<Pick<CredentialValues, "allowedHosts" | "credentialType" | "data">>>`
      SELECT credential_type, credential_data AS data, allowed_hosts FROM credentials
      WHERE organization_id = ${organizationId} AND uuid = ${uuid}::uuid`
  )

/** Includes the secret. Nobody else changes the credential before the transaction ends. */
export const lock = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  opened(
    organizationId,
    uuid,
    sql<Stored<CredentialValues>>`
      SELECT name, description, credential_type, credential_data AS data, allowed_hosts FROM credentials
      WHERE organization_id = ${organizationId} AND uuid = ${uuid}::uuid FOR UPDATE`
  )

export const update = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, uuid: string, credential: CredentialValues) {
  const data = sealedJson(yield* Sealer, placeOf(organizationId, uuid), credential.data)
  return yield* sql<Credential>`
    UPDATE credentials SET name = ${credential.name}, description = ${credential.description},
      credential_type = ${credential.credentialType}, credential_data = ${data}::text::jsonb,
      allowed_hosts = ${credential.allowedHosts}::text[], updated_at = now()
    WHERE organization_id = ${organizationId} AND uuid = ${uuid}::uuid RETURNING ${columns(sql)}`
})

export const remove = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  sql<Pick<Credential, "uuid">>`
    DELETE FROM credentials WHERE organization_id = ${organizationId} AND uuid = ${uuid}::uuid RETURNING uuid`.pipe(
    Effect.map((rows) => rows[0])
  )

/** How many of these UUIDs, which must be distinct, are the organization's. */
export const count = (sql: Sql, organizationId: OrganizationId, uuids: ReadonlyArray<string>) =>
  sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM credentials WHERE organization_id = ${organizationId} AND uuid = ANY(${uuids}::uuid[])`.pipe(
    Effect.map((rows) => rows[0]?.count ?? 0)
  )
