/**
 * Closed first when the engine stops: nothing more is dialed, and calls get time to end while carriers can still reach the gateway with the
 * audio of calls and with how they ended. Meanwhile another engine may dial: this one has given up the lock and is leaving.
 */
import { Effect, Layer } from "effect"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import { Config } from "./config/config.ts"
import { Slots } from "./dispatch/Slots.ts"
import { CallNodes } from "./nodes/CallNodes.ts"
import { LocalJournal } from "./journal/LocalJournal.ts"
import { EngineLock } from "./lock/EngineLock.ts"
import { ownAddress } from "./lock/ownAddress.ts"

/** How long claims in progress may take. Their calls are no longer sent, and the next engine should find them given back. */
const CLAIMS = "2 seconds"

/** Where clients and carriers connect. */
interface Front {
  readonly port: number
  /** Continues on another port, only for calls in progress, and returns that port. */
  readonly leave: Effect.Effect<number, Error>
}

export const layer = <R>(front: Effect.Effect<Front, never, R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const lock = yield* EngineLock
      const { drain, live } = yield* CallSupervisor
      const { drainSeconds } = yield* Config
      const leaving = yield* makeLeaving(yield* front)
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          lock.dialNoMore()
          if (live() > 0 && drainSeconds > 0) yield* leaving
          yield* drain
        })
      )
    })
  )

const makeLeaving = Effect.fnUntraced(function* (front: Front) {
  const { calls } = yield* CallSupervisor
  const config = yield* Config
  const { id: journal } = yield* LocalJournal
  const lock = yield* EngineLock
  const { awaitClaims } = yield* Slots
  const { quiet } = yield* CallNodes
  return Effect.gen(function* () {
    yield* Effect.timeoutOption(awaitClaims, CLAIMS)
    yield* quiet
    const port = yield* front.leave
    const callIds = calls().map(({ attempt }) => attempt.callId)
    lock.leave({ address: ownAddress(config, port), calls: callIds, journal, port: front.port })
  }).pipe(Effect.catch((error) => Effect.logWarning("another engine waits until the calls are over", error)))
})
