/**
 * How the request to transfer a callee is sent: when the account's rate allows it, because it rings a phone like any other, and only while the
 * call lasts. It is never repeated; if its outcome is unknown, the provider's events and the audio decide it.
 */
import { type Clock, Effect } from "effect"
import { type CallCommand, CallEvent } from "#core/call/Call.ts"
import { TransferDoubtful, TransferRefused } from "#core/provider/Transfer.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { Departure } from "#runtime/dispatch/CallRate.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"

type Command = Extract<CallCommand, { readonly _tag: "Transfer" }>

/** The longest wait for the rate limit. */
const LATEST_MILLIS = 10_000
/** For adapters without a timeout of their own. */
const TRANSFER_TIMEOUT = "20 seconds"

export const transfer = Effect.fnUntraced(function* (services: CallServices, call: LiveCall, command: Command) {
  const { clock, rate } = services
  yield* request(services, call, command).pipe(
    Effect.catchTag("TransferDoubtful", ({ detail }) => Effect.logWarning("it is unknown whether a transfer was taken", { detail })),
    Effect.catchTag("TransferRefused", ({ detail, isRateLimited }) => {
      const { transfer } = command
      if (isRateLimited === true) rate.slowDown({ key: call.trunk.rateKey, rate: call.trunk.rate })
      call.tell(CallEvent.cases.Transferred.make({ answered: false, at: SteadyTime.nowOf(clock), transfer }))
      return Effect.logWarning("a transfer was refused", { detail })
    })
  )
})

const request = Effect.fnUntraced(function* (services: CallServices, call: LiveCall, { destination, transfer }: Command) {
  const { charge, clock, local, transfers } = services
  const { trunk } = call
  const begin = trunk.trunk.transfer
  if (begin === undefined) return yield* new TransferRefused({ detail: "this provider transfers no calls" })
  const departure = transfers.reserve(call.ref.callId, trunk)
  call.transfer = transfer
  let hasLeft = false
  /** The rate had no room at this instant, or the permission of another engine had lapsed. */
  let isPutOff = false
  const leave = (): boolean => {
    // A call that has been hung up in the meantime has no transfer left.
    const isWanted = call.transfer === transfer && !call.isOver && charge.mayDial()
    hasLeft = isWanted && departure.leave()
    isPutOff = isWanted && !hasLeft
    if (!isPutOff) call.transfer = undefined
    if (hasLeft) local.handed(call.ref.callId, transfer)
    return hasLeft
  }
  const latest = SteadyTime.nowOf(clock) + LATEST_MILLIS
  const overdue = Effect.suspend(() => {
    call.transfer = undefined
    const detail = "no reply in time"
    return Effect.fail(hasLeft ? new TransferDoubtful({ detail }) : new TransferRefused({ detail }))
  })
  const ask = Effect.gen(function* () {
    isPutOff = false
    if (!(yield* awaitMoment(clock, departure, latest))) return yield* new TransferRefused({ detail: "too many calls are being dialed" })
    const { from } = call.ref
    yield* begin(call.ref, { ...(from === undefined ? {} : { from }), ...destination, leave, transfer })
  })
  yield* ask.pipe(
    Effect.tapError(() => Effect.sync(() => isPutOff && departure.renew())),
    Effect.retry({ while: () => isPutOff }),
    Effect.timeoutOrElse({ duration: TRANSFER_TIMEOUT, orElse: () => overdue }),
    Effect.ensuring(Effect.sync(() => departure.giveBack()))
  )
})

/** False if the transfer may not leave by `latest`. */
const awaitMoment = Effect.fnUntraced(function* (clock: Clock.Clock, departure: Departure, latest: SteadyTime.SteadyMillis) {
  if (departure.granted !== undefined) return yield* departure.granted(latest)
  for (let at = departure.readyAt(); at > SteadyTime.nowOf(clock); at = departure.readyAt()) {
    if (at > latest) return false
    yield* Effect.sleep(at - SteadyTime.nowOf(clock))
  }
  return true
})
