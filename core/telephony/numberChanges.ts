/** Shared by the services that change the phone numbers of a telephony configuration. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { Registry } from "#core/provider/Registry.ts"
import { Sealer } from "#core/Sealer.ts"
import { NationalNumbers } from "./NationalNumbers.ts"
import { TelephonyConfigNotFound } from "./TelephonyConfig.ts"
import { accountOf } from "./TelephonyConfigs.ts"
import * as store from "./TelephonyConfigStore.ts"
import { TrunkSignals } from "./TrunkSignals.ts"

export type NumberChanges = Effect.Success<typeof numberChanges>

export const numberChanges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const registry = yield* Registry
  const signals = yield* TrunkSignals
  return {
    sql,
    national: yield* NationalNumbers,
    sealing: Effect.provideService(Sealer, yield* Sealer),
    /** Where new numbers of the configuration belong. In a transaction, this locks the configuration. */
    place: Effect.fnUntraced(function* (organizationId: OrganizationId, configId: TelephonyConfigId) {
      const config = yield* store.lock(sql, organizationId, configId)
      if (config === undefined) return yield* new TelephonyConfigNotFound({ id: configId })
      const { credentials, provider } = config
      return { account: accountOf(registry.find(provider), credentials), organizationId, provider, telephonyConfigurationId: configId }
    }),
    /** Uninterruptible: if the client disconnects, the nodes must still be signalled, or calls would keep showing an old number. */
    signalled: <A, E>(configId: TelephonyConfigId, change: Effect.Effect<A, E>) =>
      Effect.uninterruptible(Effect.tap(change, () => signals.numbersChanged(configId)))
  }
})
