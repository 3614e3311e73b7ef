/**
 * Which of our calls each provider id belongs to. This node's calls are looked up in memory, where their ids are known first, all others in the
 * database.
 */
import { Context, Effect, Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import { persist } from "#runtime/postgres/persist.ts"

/** A provider account, which several configurations may share, even across organizations. */
interface Account {
  readonly key: string
  readonly configurationIds: ReadonlyArray<TelephonyConfigId>
}

export class CallNames extends Context.Service<
  CallNames,
  {
    /** Gives the call this id, replacing any earlier one. False if the id belongs to another call; then nothing changes. */
    readonly claim: (callId: CallId, accountKey: string, providerCallId: string) => boolean
    /** The call is over, and its id is in the database. */
    readonly forget: (callId: CallId) => void
    /** Waits for as long as the database is unreachable. */
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
