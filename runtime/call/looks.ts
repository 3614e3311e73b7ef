/**
 * Asks the provider for the state of a call: when the call's state machine wants to know, and when an untrusted source says that the call has
 * ended. Anything the provider's record reports is treated like its events.
 */
import { type Duration, Effect } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import { isAlive, type Look, type Presence } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"
import { notePlaced } from "./noteDown.ts"

const { EndChecked, Looked } = CallEvent.cases

/** A provider that has not answered a lookup within this time counts as silent. */
const LOOK_TIMEOUT = "10 seconds"
/** The same for checking a claim, which nothing waits for: adapters delay lookups to stay within a carrier's rate limit. */
const CHECK_TIMEOUT = "1 minute"
/** A claim is checked at once, and again after each of these pauses, because a record may lag behind its callback. */
const PAUSES = ["0 seconds", "1 second", "3 seconds", "8 seconds", "20 seconds"] as const

type Answer = Omit<Look, "presence"> & { readonly presence: Presence | "silent" }

const ask = ({ local }: CallServices, call: LiveCall, timeout: Duration.Input) =>
  call.trunk.trunk.lookup(call.ref).pipe(
    Effect.timeout(timeout),
    Effect.catch(() => Effect.succeed<Answer>({ presence: "silent", told: [] })),
    Effect.tap(({ presence, told }) =>
      Effect.sync(() => {
        if (presence !== "silent" && isAlive(presence)) {
          notePlaced(local, call)
          call.trunk.heard(call.attempt.callId, { _tag: "Rang" })
        }
        for (const event of told) call.trunk.hear(call.attempt.callId, event)
      })
    )
  )

export const look = (services: CallServices, call: LiveCall) =>
  Effect.map(ask(services, call, LOOK_TIMEOUT), ({ presence }) => {
    call.tell(Looked.make({ at: SteadyTime.nowOf(services.clock), deaf: isDeaf(call), presence }))
  })

/**
 * Looks until the record reports the end, or the series of lookups is over. Failing to find the call does not prove that it ended, so the state
 * machine must not count these lookups as its own. Claims that arrive meanwhile add no lookups; only one during the
 * last pause, whose record may appear after it, starts the series again.
 */
export const checkEnd = Effect.fnUntraced(function* (services: CallServices, call: LiveCall) {
  do {
    for (const pause of PAUSES) {
      call.endClaim = "checked"
      yield* Effect.sleep(pause)
      const { presence, told } = yield* call.trunk.checking.withPermits(1)(ask(services, call, CHECK_TIMEOUT))
      if (told.some(({ _tag }) => _tag === "HungUp")) return
      const isThere = presence === "silent" || isAlive(presence)
      if (!isThere && !isDeaf(call)) call.tell(EndChecked.make({ at: SteadyTime.nowOf(services.clock) }))
    }
  } while (call.endClaim === "repeated")
  call.endClaim = undefined
})

/** The call's events cannot be heard at the moment; what they would have said is found out once they can be heard again. */
const isDeaf = ({ attempt, trunk }: LiveCall) => {
  const status = trunk.trunk.statusOf?.(attempt.callId) ?? trunk.status()
  return status._tag === "Connecting" || (status._tag === "Down" && (status.reason === "unreachable" || status.reason === "unheard"))
}
