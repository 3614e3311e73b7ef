/** Which call of ours each id of a provider's belongs to: those of this node in memory, where they are known first, and all others in the database. */
import { Context, Effect, Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import { persist } from "#runtime/postgres/persist.ts"

/** A provider's account, which several configurations may share, also of several organizations. */
interface Account {
  readonly key: string
  readonly configurationIds: ReadonlyArray<TelephonyConfigId>
}

export class CallNames extends Context.Service<
  CallNames,
  {
    /** The call has this id from now on, instead of an earlier one. False: it belongs to another call, and nothing has changed. */
    readonly claim: (callId: CallId, accountKey: string, providerCallId: string) => boolean
    /** The call is over, and its id is in the database. */
    readonly forget: (callId: CallId) => void
    /** Waits for as long as the database is away. */
    readonly isOthers: (callId: CallId, account: Account, providerCallId: string) => Effect.Effect<boolean>
  }
>()("runtime/call/CallNames") {
  static readonly layer = Layer.effect(
    CallNames,
    Effect.map(AttemptStore, (store) => {
      const owners = new Map<string, CallId>()
      const names = new Map<CallId, string>()
      const isAnothers = (callId: CallId, name: string) => (owners.get(name) ?? callId) !== callId
      const forget = (callId: CallId) => {
        const name = names.get(callId)
        if (name === undefined) return
        names.delete(callId)
        owners.delete(name)
      }
      return {
        claim: (callId, accountKey, providerCallId) => {
          const name = `${accountKey} ${providerCallId}`
          if (isAnothers(callId, name)) return false
          forget(callId)
          owners.set(name, callId)
          names.set(callId, name)
          return true
        },
        forget,
        isOthers: (callId, { configurationIds, key }, providerCallId) =>
          Effect.suspend(() =>
            isAnothers(callId, `${key} ${providerCallId}`)
              ? Effect.succeed(true)
              : persist(store.hasOther(callId, configurationIds, providerCallId))
          )
      }
    })
  )
}
