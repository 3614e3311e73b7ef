import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { PhoneAddress } from "./PhoneAddress.ts"
import { maxPhoneNumbers, type PhoneNumber } from "./PhoneNumber.ts"

type Sql = SqlClient.SqlClient

type Nullable = "maxConcurrent" | "refusedReason" | "countryCode" | "label" | "inboundAgentId" | "inboundAgentName"
type PhoneNumberRow = Omit<PhoneNumber, Nullable> & { readonly [Name in Nullable]: PhoneNumber[Name] | null }

const numberOf = (row: PhoneNumberRow): PhoneNumber => ({
  ...row,
  maxConcurrent: row.maxConcurrent ?? undefined,
  refusedReason: row.refusedReason ?? undefined,
  countryCode: row.countryCode ?? undefined,
  label: row.label ?? undefined,
  inboundAgentId: row.inboundAgentId ?? undefined,
  inboundAgentName: row.inboundAgentName ?? undefined
})

const select = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId) => sql`
  SELECT n.id, n.telephony_configuration_id, n.address, n.address_normalized, n.address_type, n.country_code, n.label, n.inbound_agent_id,
    a.name AS inbound_agent_name, n.is_active, n.is_default_caller_id, n.max_concurrent, n.refused_reason, n.extra_metadata, n.created_at, n.updated_at
  FROM phone_numbers n LEFT JOIN agents a ON a.id = n.inbound_agent_id
  WHERE n.organization_id = ${organizationId} AND n.telephony_configuration_id = ${configId}`

export const list = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId) =>
  sql<PhoneNumberRow>`${select(sql, organizationId, configId)} ORDER BY n.id LIMIT ${maxPhoneNumbers}`.pipe(
    Effect.map((rows) => rows.map(numberOf))
  )

export const find = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId) =>
  sql<PhoneNumberRow>`${select(sql, organizationId, configId)} AND n.id = ${id}`.pipe(Effect.map((rows) => rows.map(numberOf)[0]))

export const count = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId) =>
  sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM phone_numbers
    WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId}`.pipe(Effect.map((rows) => rows[0]?.count ?? 0))

/** The agent cannot be deleted before the transaction ends. */
export const holdAgent = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql`SELECT id FROM agents WHERE organization_id = ${organizationId} AND id = ${id} FOR KEY SHARE`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const insert = (
  sql: Sql,
  number: Pick<
    PhoneNumber,
    "telephonyConfigurationId" | "address" | "isActive" | "isDefaultCallerId" | "maxConcurrent" | "extraMetadata"
  > & {
    readonly organizationId: OrganizationId
    readonly normal: PhoneAddress
    readonly countryCode: string | undefined
    readonly label: string | undefined
    readonly inboundAgentId: AgentId | undefined
    readonly provider: string
    readonly account: string | undefined
  }
) =>
  sql<{ readonly id: PhoneNumberId }>`
    INSERT INTO phone_numbers (organization_id, telephony_configuration_id, address, address_normalized, address_type, country_code, label,
      inbound_agent_id, is_active, is_default_caller_id, max_concurrent, extra_metadata, provider, account)
    VALUES (${number.organizationId}, ${number.telephonyConfigurationId}, ${number.address}, ${number.normal.normalized}, ${number.normal.type},
      ${number.countryCode ?? null}::text, ${number.label ?? null}::text, ${number.inboundAgentId ?? null}::int, ${number.isActive},
      ${number.isDefaultCallerId}, ${number.maxConcurrent ?? null}::int, ${JSON.stringify(number.extraMetadata)}::text::jsonb, ${number.provider}, ${number.account ?? null}::text)
    RETURNING id`.pipe(Effect.map((rows) => rows[0]?.id))

/**
 * Inserts the numbers in E.164 that nobody has yet, and returns them. They are inserted in the given order, which must be
 * sorted, so that concurrent imports cannot deadlock.
 */
export const insertNew = (
  sql: Sql,
  place: Pick<PhoneNumber, "telephonyConfigurationId"> & {
    readonly organizationId: OrganizationId
    readonly provider: string
    readonly account: string | undefined
  },
  addresses: ReadonlyArray<string>
) =>
  sql<{ readonly address: string }>`
    INSERT INTO phone_numbers (organization_id, telephony_configuration_id, address, address_normalized, address_type, provider, account)
    SELECT ${place.organizationId}::int, ${place.telephonyConfigurationId}::int, address, address, 'pstn', ${place.provider}::text,
      ${place.account ?? null}::text
    FROM unnest(${[...addresses]}::text[]) WITH ORDINALITY AS given (address, position) ORDER BY position
    ON CONFLICT DO NOTHING RETURNING address`.pipe(Effect.map((rows) => rows.map(({ address }) => address)))

/** Which of these addresses the organization has, and where. */
export const ownPlaces = (sql: Sql, organizationId: OrganizationId, addresses: ReadonlyArray<string>) =>
  sql<Pick<PhoneNumber, "id" | "telephonyConfigurationId" | "addressNormalized">>`
    SELECT id, telephony_configuration_id, address_normalized FROM phone_numbers
    WHERE organization_id = ${organizationId} AND address_normalized = ANY(${[...addresses]}::text[])`.pipe(
    Effect.map((rows) => new Map(rows.map(({ addressNormalized, ...place }) => [addressNormalized, place])))
  )

/** Undefined fields stay unchanged. */
interface StoredChanges {
  readonly countryCode: string | undefined
  readonly label: string | undefined
  /** Null: no agent. */
  readonly inboundAgentId: AgentId | null | undefined
  readonly isActive: boolean | undefined
  /** Null: unlimited. */
  readonly maxConcurrent: number | null | undefined
  readonly extraMetadata: Readonly<Record<string, unknown>> | undefined
}

export const update = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId, to: StoredChanges) =>
  sql`
    UPDATE phone_numbers SET updated_at = now(), country_code = coalesce(${to.countryCode ?? null}::text, country_code),
      label = coalesce(${to.label ?? null}::text, label), is_active = coalesce(${to.isActive ?? null}::bool, is_active),
      inbound_agent_id = CASE WHEN ${to.inboundAgentId === undefined} THEN inbound_agent_id ELSE ${to.inboundAgentId ?? null}::int END,
      max_concurrent = CASE WHEN ${to.maxConcurrent === undefined} THEN max_concurrent ELSE ${to.maxConcurrent ?? null}::int END,
      refused_reason = CASE WHEN ${to.isActive === true} THEN NULL ELSE refused_reason END,
      extra_metadata = coalesce(${to.extraMetadata === undefined ? null : JSON.stringify(to.extraMetadata)}::text::jsonb, extra_metadata)
    WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId} AND id = ${id} RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const dropDefaultCaller = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId) => sql`
  UPDATE phone_numbers SET is_default_caller_id = false, updated_at = now()
  WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId} AND is_default_caller_id`

export const setDefaultCaller = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId) => sql`
  UPDATE phone_numbers SET is_default_caller_id = true, updated_at = now()
  WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId} AND id = ${id}`

export const remove = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId) =>
  sql`
    DELETE FROM phone_numbers WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId} AND id = ${id}
    RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))
