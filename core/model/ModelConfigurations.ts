/** The speech and language services of an organization, together with the preferences that clients read and write with them. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import {
  changed,
  faultOf,
  isEmpty,
  type ModelChanges,
  type ModelConfiguration,
  type ModelSecretMasked,
  ModelsMissing,
  problemsOf
} from "./ModelConfiguration.ts"
import {
  isTooLarge,
  type ModelDocument,
  ModelDocumentRefused,
  ModelDocumentTooLarge,
  problemsIn,
  servicesOf,
  withServices,
  withStoredSecrets
} from "./ModelDocument.ts"
import { KeyTrials, refusedKeys } from "./KeyTrials.ts"
import * as store from "./ModelConfigurationStore.ts"
import { OrganizationModels } from "./OrganizationModels.ts"
import { problemOf, problemsWithChanges, problemsWithDocument, type ServiceRules, warningsOf } from "./ServiceChecks.ts"
import { ServiceRegistry } from "./ServiceRegistry.ts"
import { type ServiceKind, serviceKinds } from "./VoiceServices.ts"
import type { Preferences } from "#core/organization/Organization.ts"
import * as settings from "#core/organization/OrganizationSettingsStore.ts"

/** Includes the preferences of `OrganizationSettings`, which can be changed there as well. */
export interface UserConfiguration {
  /** Undefined if nothing is configured. */
  readonly document: ModelDocument | undefined
  /** The services in the document. */
  readonly models: ModelConfiguration
  readonly preferences: Preferences
  /** In words: the services that this engine does not have, without which calls do, and after a change what services say against their keys. */
  readonly warnings: ReadonlyArray<string>
}
type Stored = Omit<UserConfiguration, "warnings">

/** Omitted fields stay unchanged. */
export interface UserConfigurationChanges {
  readonly models: ModelChanges
  readonly preferences: Partial<Pick<Preferences, "testPhoneNumber" | "timezone">>
}

export class ModelConfigurations extends Context.Service<
  ModelConfigurations,
  {
    readonly get: (id: OrganizationId) => Effect.Effect<UserConfiguration>
    readonly document: (id: OrganizationId) => Effect.Effect<ModelDocument | undefined>
    readonly update: (
      id: OrganizationId,
      changes: UserConfigurationChanges
    ) => Effect.Effect<UserConfiguration, ModelDocumentRefused | ModelDocumentTooLarge | ModelSecretMasked>
    readonly replace: (
      id: OrganizationId,
      document: ModelDocument
    ) => Effect.Effect<UserConfiguration, ModelDocumentTooLarge | ModelDocumentRefused>
    /** Fails if a configured service cannot be used in this engine. Does not test the keys. */
    readonly check: (id: OrganizationId) => Effect.Effect<void, ModelsMissing>
  }
>()("core/model/ModelConfigurations") {
  static readonly layer = Layer.effect(
    ModelConfigurations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      const find = (id: OrganizationId) => sealing(Effect.orDie(store.find(sql, id)))
      const registry = yield* ServiceRegistry
      const policy = yield* EgressPolicy
      const { changed } = yield* OrganizationModels
      const isTryingKeys = yield* KeyTrials
      const rulesFor = (id: OrganizationId) => Effect.map(policy.trunksOf(id), (egress): ServiceRules => ({ egress, registry }))
      // Calls must learn of a change even if its client has left, or if it is unknown whether the change was committed.
      const changing = <A, E>(id: OrganizationId, change: Effect.Effect<A, E, Sealer>) =>
        Effect.uninterruptible(Effect.ensuring(sealing(change), changed(id)))
      const advised = (stored: Stored): UserConfiguration => ({
        ...stored,
        warnings: warningsOf({ egress: undefined, registry }, stored.models)
      })
      const tried = Effect.fnUntraced(function* ({ egress }: ServiceRules, stored: Stored, kinds: ReadonlyArray<ServiceKind>) {
        const { warnings, ...rest } = advised(stored)
        if (!isTryingKeys || egress === undefined) return { ...rest, warnings }
        return { ...rest, warnings: [...warnings, ...(yield* refusedKeys(registry, { egress }, stored.models, kinds))] }
      })
      return ModelConfigurations.of({
        get: Effect.fn("ModelConfigurations.get")((id) => Effect.map(sealing(get(sql, id)), advised)),
        document: Effect.fn("ModelConfigurations.document")(find),
        update: Effect.fn("ModelConfigurations.update")(function* (id, changes) {
          const rules = yield* rulesFor(id)
          const stored = yield* changing(id, update(sql, id, changes, rules))
          const changed = serviceKinds.filter((kind) => changes.models[kind] !== undefined)
          return yield* tried(rules, stored, changed)
        }),
        replace: Effect.fn("ModelConfigurations.replace")(function* (id, document) {
          const rules = yield* rulesFor(id)
          return yield* tried(rules, yield* changing(id, replace(sql, id, document, rules)), serviceKinds)
        }),
        check: Effect.fn("ModelConfigurations.check")(function* (id) {
          const rules = yield* rulesFor(id)
          const problems = problemsOf(servicesOf(yield* find(id)), (kind, service) => problemOf(rules, kind, service))
          if (problems.length > 0) return yield* new ModelsMissing({ problems })
        })
      })
    })
  ).pipe(Layer.provide(OrganizationModels.layer))
}

const preferences = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: OrganizationId) {
  const [found] = yield* Effect.orDie(settings.preferences(sql, id))
  return found ?? (yield* Effect.die("The caller's organization is gone"))
})

const get = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: OrganizationId) {
  const document = yield* Effect.orDie(store.find(sql, id))
  return { document, models: servicesOf(document), preferences: yield* preferences(sql, id) }
})

const notTooLarge = (document: ModelDocument | undefined) =>
  document !== undefined && isTooLarge(document) ? Effect.fail(new ModelDocumentTooLarge()) : Effect.void

const transaction = <A, E, R, Rest extends ReadonlyArray<unknown>>(work: Effect.Effect<A, E, R>, sql: SqlClient.SqlClient, ..._: Rest) =>
  Effect.catchTag(sql.withTransaction(work), "SqlError", Effect.die)

const update = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  id: OrganizationId,
  changes: UserConfigurationChanges,
  rules: ServiceRules
) {
  yield* store.lock(sql, id)
  const before = yield* get(sql, id)
  const models = changed(before.models, changes.models)
  const fault = faultOf(models)
  if (fault !== undefined) return yield* Effect.fail(fault)
  const document = isEmpty(models) ? undefined : withServices(before.document, models)
  yield* notTooLarge(document)
  const problems = problemsWithChanges(rules, changes.models, models)
  if (problems.length > 0) return yield* new ModelDocumentRefused({ problems })
  yield* document === undefined ? store.remove(sql, id) : store.put(sql, id, document)
  const preferences = { ...before.preferences, ...changes.preferences }
  yield* settings.setPreferences(sql, id, preferences)
  return { document, models, preferences }
}, transaction)

const replace = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: OrganizationId, sent: ModelDocument, rules: ServiceRules) {
  yield* store.lock(sql, id)
  const before = yield* get(sql, id)
  const document = withStoredSecrets(sent, before.document)
  yield* notTooLarge(document)
  const problems = [...problemsIn(document), ...problemsWithDocument(rules, document)]
  if (problems.length > 0) return yield* new ModelDocumentRefused({ problems })
  yield* store.put(sql, id, document)
  return { ...before, document, models: servicesOf(document) }
}, transaction)
