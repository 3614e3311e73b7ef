/** The phone numbers of a telephony configuration. Each change is signalled after the commit, so that nodes dialing through it follow. */
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentNotFound } from "#core/agent/Agent.ts"
import type { AgentId, OrganizationId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import { refusedAs } from "#core/uniqueness.ts"
import { isPresentable } from "./CallerId.ts"
import { type NumberChanges, numberChanges } from "./numberChanges.ts"
import { type PhoneAddress, type PhoneAddressRefused, parse } from "./PhoneAddress.ts"
import {
  CallerIdRefused,
  maxPhoneNumbers,
  type PhoneNumber,
  PhoneNumberNotFound,
  PhoneNumbersFull,
  PhoneNumberTaken
} from "./PhoneNumber.ts"
import * as store from "./PhoneNumberStore.ts"
import { TelephonyConfigNotFound } from "./TelephonyConfig.ts"
import * as configStore from "./TelephonyConfigStore.ts"

export interface NewPhoneNumber {
  readonly address: string
  readonly countryCode?: string | undefined
  readonly label?: string | undefined
  readonly inboundAgentId?: AgentId | undefined
  readonly isActive: boolean
  readonly isDefaultCallerId: boolean
  readonly maxConcurrent?: number | undefined
  readonly extraMetadata: Readonly<Record<string, unknown>>
}

/** Omitted fields stay unchanged; the address cannot be changed. */
export interface PhoneNumberChanges {
  readonly countryCode?: string | undefined
  readonly label?: string | undefined
  /** Null removes the agent, so that calls to the number are not answered. */
  readonly inboundAgentId?: AgentId | null | undefined
  readonly isActive?: boolean | undefined
  /** Null: unlimited. */
  readonly maxConcurrent?: number | null | undefined
  readonly extraMetadata?: Readonly<Record<string, unknown>> | undefined
}

export class PhoneNumbers extends Context.Service<
  PhoneNumbers,
  {
    /** Oldest first. */
    readonly list: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId
    ) => Effect.Effect<ReadonlyArray<PhoneNumber>, TelephonyConfigNotFound>
    /** A new default replaces the previous one. */
    readonly create: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      number: NewPhoneNumber
    ) => Effect.Effect<
      PhoneNumber,
      TelephonyConfigNotFound | AgentNotFound | PhoneAddressRefused | PhoneNumberTaken | PhoneNumbersFull | CallerIdRefused
    >
    readonly get: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      id: PhoneNumberId
    ) => Effect.Effect<PhoneNumber, PhoneNumberNotFound>
    readonly update: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      id: PhoneNumberId,
      changes: PhoneNumberChanges
    ) => Effect.Effect<PhoneNumber, PhoneNumberNotFound | AgentNotFound>
    /** Makes it the caller ID of the configuration's calls. */
    readonly setDefaultCaller: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      id: PhoneNumberId
    ) => Effect.Effect<PhoneNumber, PhoneNumberNotFound | CallerIdRefused>
    readonly remove: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      id: PhoneNumberId
    ) => Effect.Effect<void, PhoneNumberNotFound>
  }
>()("core/telephony/PhoneNumbers") {
  static readonly layer = Layer.effect(
    PhoneNumbers,
    Effect.gen(function* () {
      const changes = yield* numberChanges
      const { national, sealing, signalled, sql } = changes
      const get = Effect.fnUntraced(function* (organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId) {
        const number = yield* Effect.orDie(store.find(sql, organizationId, configId, id))
        return number ?? (yield* new PhoneNumberNotFound({ id }))
      })

      return PhoneNumbers.of({
        list: Effect.fn("PhoneNumbers.list")(function* (organizationId, configId) {
          const config = yield* sealing(Effect.orDie(configStore.find(sql, organizationId, configId)))
          if (config === undefined) return yield* new TelephonyConfigNotFound({ id: configId })
          return yield* Effect.orDie(store.list(sql, organizationId, configId))
        }),
        create: Effect.fn("PhoneNumbers.create")(function* (organizationId, configId, number) {
          const normal = yield* parse(number.address, number.countryCode, national)
          const id = yield* signalled(configId, sealing(create(changes, organizationId, configId, { ...number, normal })))
          return yield* Effect.orDie(get(organizationId, configId, id))
        }),
        get: Effect.fn("PhoneNumbers.get")(get),
        update: Effect.fn("PhoneNumbers.update")(function* (organizationId, configId, id, changes) {
          yield* signalled(configId, update(sql, { organizationId, configId, id }, changes))
          return yield* get(organizationId, configId, id)
        }),
        setDefaultCaller: Effect.fn("PhoneNumbers.setDefaultCaller")(function* (organizationId, configId, id) {
          yield* signalled(configId, sealing(setDefaultCaller(sql, { organizationId, configId, id })))
          return yield* get(organizationId, configId, id)
        }),
        remove: Effect.fn("PhoneNumbers.remove")((organizationId, configId, id) =>
          signalled(configId, remove(sql, { organizationId, configId, id }))
        )
      })
    })
  )
}

type Sql = SqlClient.SqlClient
interface Which {
  readonly organizationId: OrganizationId
  readonly configId: TelephonyConfigId
  readonly id: PhoneNumberId
}

const knownAgent = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId | null | undefined) {
  if (id !== undefined && id !== null && !(yield* store.holdAgent(sql, organizationId, id))) return yield* new AgentNotFound({ id })
})

const create = Effect.fnUntraced(
  function* (
    { place, sql }: NumberChanges,
    organizationId: OrganizationId,
    configId: TelephonyConfigId,
    number: NewPhoneNumber & { readonly normal: PhoneAddress }
  ) {
    const { countryCode, inboundAgentId, label, normal } = number
    const kept = yield* place(organizationId, configId)
    yield* knownAgent(sql, organizationId, inboundAgentId)
    if (number.isDefaultCallerId && !isPresentable(normal.normalized)) return yield* new CallerIdRefused()
    if ((yield* store.count(sql, organizationId, configId)) >= maxPhoneNumbers) return yield* new PhoneNumbersFull()
    if (number.isDefaultCallerId) yield* store.dropDefaultCaller(sql, organizationId, configId)
    const row = { ...number, ...kept, countryCode, inboundAgentId, label, maxConcurrent: number.maxConcurrent }
    const id = yield* store.insert(sql, row)
    return id ?? (yield* Effect.die("An inserted phone number was not returned"))
  },
  (create, { sql }, _, __, { address }) =>
    sql.withTransaction(create).pipe(
      refusedAs({
        phone_numbers_address: () => new PhoneNumberTaken({ address, by: "organization" }),
        phone_numbers_account: () => new PhoneNumberTaken({ address, by: "account" })
      }),
      Effect.catchTag("SqlError", Effect.die)
    )
)

const update = Effect.fnUntraced(
  function* (sql: Sql, { configId, id, organizationId }: Which, changes: PhoneNumberChanges) {
    if ((yield* store.find(sql, organizationId, configId, id)) === undefined) return yield* new PhoneNumberNotFound({ id })
    yield* knownAgent(sql, organizationId, changes.inboundAgentId)
    const { countryCode, extraMetadata, inboundAgentId, isActive, label, maxConcurrent } = changes
    const to = { countryCode, extraMetadata, inboundAgentId, isActive, label, maxConcurrent }
    if (!(yield* store.update(sql, organizationId, configId, id, to))) return yield* new PhoneNumberNotFound({ id })
  },
  (update, sql) => Effect.catchTag(sql.withTransaction(update), "SqlError", Effect.die)
)

const setDefaultCaller = Effect.fnUntraced(
  function* (sql: Sql, { configId, id, organizationId }: Which) {
    // Concurrent changes of the default wait here, so that there is never a second one.
    yield* configStore.lock(sql, organizationId, configId)
    const number = yield* store.find(sql, organizationId, configId, id)
    if (number === undefined) return yield* new PhoneNumberNotFound({ id })
    if (!isPresentable(number.addressNormalized)) return yield* new CallerIdRefused()
    yield* store.dropDefaultCaller(sql, organizationId, configId)
    yield* store.setDefaultCaller(sql, organizationId, configId, id)
  },
  (setDefaultCaller, sql) => Effect.catchTag(sql.withTransaction(setDefaultCaller), "SqlError", Effect.die)
)

const remove = Effect.fnUntraced(function* (sql: Sql, { configId, id, organizationId }: Which) {
  if (!(yield* Effect.orDie(store.remove(sql, organizationId, configId, id)))) return yield* new PhoneNumberNotFound({ id })
})
