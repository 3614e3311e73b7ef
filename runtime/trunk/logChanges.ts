/** Logs the state of a trunk: each change between up and down, and the start and end of trouble. */
import { Effect } from "effect"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import type { TrunkHealth } from "#core/provider/TrunkHealth.ts"

/** Logs until the scope closes. */
export const logChanges = Effect.fnUntraced(function* (health: TrunkHealth) {
  const log = Effect.runForkWith(yield* Effect.context())
  let logged: TrunkStatus = { _tag: "Connecting" }
  let isTroubled = false
  const look = () => {
    const status = health.status()
    // A trunk that is reconnecting keeps its logged state.
    if (status._tag !== "Connecting" && !isSame(status, logged)) {
      logged = status
      log(
        status._tag === "Up"
          ? Effect.logInfo("a trunk is up")
          : Effect.logWarning(downWords[status.reason], { reason: status.reason, detail: status.detail })
      )
    }
    const trouble = health.trouble()
    if (isTroubled === (trouble !== undefined)) return
    isTroubled = trouble !== undefined
    log(
      trouble === undefined
        ? Effect.logInfo("a trunk takes calls again")
        : Effect.logWarning("a trunk does not take calls as it should", { reason: trouble.kind, detail: trouble.detail })
    )
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => health.watch(look)),
    (unwatch) => Effect.sync(unwatch)
  )
})

const downWords = {
  auth: "a trunk is down: the provider rejects our credentials",
  replaced: "a trunk is down: another client took its place",
  unheard: "a trunk is down: the provider cannot reach this engine",
  unreachable: "a trunk is down: the provider cannot be reached"
}

const isSame = (one: TrunkStatus, other: TrunkStatus): boolean =>
  one._tag === other._tag && (one._tag !== "Down" || other._tag !== "Down" || (one.reason === other.reason && one.detail === other.detail))
