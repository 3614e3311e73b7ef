/** The transfers of this engine's calls: while another engine decides, it is asked when each may leave, as for the calls themselves. */
import { Clock, Context, Effect, Layer } from "effect"
import type { CallId } from "#core/Id.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { TransferDepartures } from "#runtime/call/TransferDepartures.ts"
import { Dispatcher } from "./Dispatcher.ts"
import type { Answer } from "./messages.ts"
import { RemoteDeparture } from "./RemoteDeparture.ts"

export class RemoteTransfers extends Context.Service<
  RemoteTransfers,
  {
    readonly answered: (callId: CallId, answer: Answer) => void
    /** The dispatcher cannot be asked any more, or has been replaced. */
    readonly lost: () => void
    /** When the last one left that another engine had allowed. */
    readonly leftAt: () => SteadyMillis
    readonly departures: (typeof TransferDepartures)["Service"]
  }
>()("runtime/nodes/RemoteTransfers") {
  static readonly layer = Layer.effect(
    RemoteTransfers,
    Effect.gen(function* () {
      const charge = yield* Charge
      const clock = yield* Clock.Clock
      const { say } = yield* Dispatcher
      const here = yield* TransferDepartures
      /** The latest of each call that has not left. A call has one at a time. */
      const asking = new Map<CallId, RemoteDeparture>()
      let leftAt: SteadyMillis = Number.NEGATIVE_INFINITY
      return {
        answered: (callId, answer) => asking.get(callId)?.answered(answer),
        leftAt: () => leftAt,
        lost: () => {
          for (const departure of asking.values()) departure.giveBack()
          asking.clear()
        },
        departures: {
          reserve: (callId, trunk) => {
            if (charge.isTaken()) return here.reserve(callId, trunk)
            const { configurationId } = trunk
            const departure = new RemoteDeparture({
              ask: () => say({ _tag: "AskTransfer", callId, configurationId }),
              clock,
              left: () => {
                leftAt = nowOf(clock)
                asking.delete(callId)
                say({ _tag: "TransferLeft", callId })
              },
              renewed: Effect.void
            })
            asking.set(callId, departure)
            return departure
          }
        }
      }
    })
  ).pipe(Layer.provide(TransferDepartures.layerHere))
  static readonly departuresLayer = Layer.effect(
    TransferDepartures,
    Effect.map(RemoteTransfers, ({ departures }) => departures)
  )
}
