/**
 * Transfers of calls on other engines, which ask when their requests may leave: those ring phones under the same rate as calls. Where a call was
 * dispatched by an earlier engine, its node asks this one all the same.
 */
import type { Clock } from "effect"
import type { CallId } from "#core/Id.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import type { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import type { CallRate, LendableDeparture } from "#runtime/dispatch/CallRate.ts"
import type { EngineLock } from "#runtime/lock/EngineLock.ts"
import type { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import {
  type Answer,
  FULL_AGAIN_MILLIS,
  type FromNode,
  GRANT_MILLIS,
  ON_THE_WAY_MILLIS,
  PROVEN_AGAIN_MILLIS,
  type ToNode
} from "./messages.ts"

interface Means {
  readonly clock: Clock.Clock
  readonly elsewhere: Pick<CallsElsewhere["Service"], "has">
  readonly lock: Pick<EngineLock["Service"], "isHeld">
  readonly pool: Pick<TrunkPool["Service"], "all">
  readonly rate: Pick<CallRate["Service"], "reserve">
}

interface Node {
  readonly say: (message: ToNode) => void
}

interface Wanted {
  readonly node: Node
  readonly departure: LendableDeparture
  /** Says that it has left. Defined while it may. */
  departed: (() => void) | undefined
}

type Asking = Extract<FromNode, { readonly _tag: "AskTransfer" }>

export class DispatchedTransfers {
  readonly #means: Means
  readonly #wanted = new Map<CallId, Wanted>()
  /** Until when a transfer that was allowed to leave may still do so. */
  grantedUntil: SteadyMillis = Number.NEGATIVE_INFINITY

  constructor(means: Means) {
    this.#means = means
  }

  hear(node: Node, report: Extract<FromNode, { readonly _tag: "AskTransfer" | "TransferLeft" }>, isStopping: boolean): void {
    const { callId } = report
    if (report._tag === "AskTransfer") {
      const answer = isStopping ? "no" : this.#answer(node, report)
      if (answer === "no") this.gone(callId)
      node.say({ _tag: "TransferAnswered", answer, callId })
      return
    }
    this.#wanted.get(callId)?.departed?.()
    this.#wanted.delete(callId)
  }

  /** The call is over, so it has no transfer left. */
  gone(callId: CallId): void {
    this.#wanted.get(callId)?.departure.giveBack()
    this.#wanted.delete(callId)
  }

  /** The node can no longer be heard. */
  lost(node: Node): void {
    for (const [callId, wanted] of this.#wanted) if (wanted.node === node) this.gone(callId)
  }

  #answer(node: Node, { callId, configurationId }: Asking): Answer {
    const { clock, elsewhere, lock, pool, rate } = this.#means
    const trunk = pool.all().find((one) => one.configurationId === configurationId)
    if (trunk === undefined || !lock.isHeld() || !elsewhere.has(callId)) return "no"
    const before = this.#wanted.get(callId)
    const wanted = before ?? { departed: undefined, departure: rate.reserve([{ key: trunk.rateKey, rate: trunk.rate }]), node }
    this.#wanted.set(callId, wanted)
    if (wanted.departed !== undefined) {
      // It would not ask again if it had used the permission before it lapsed.
      wanted.departure.renew()
      wanted.departed = undefined
    }
    const now = nowOf(clock)
    if (!lock.isHeld(GRANT_MILLIS)) return { again: PROVEN_AGAIN_MILLIS }
    const early = wanted.departure.readyAt() - now
    if (early > ON_THE_WAY_MILLIS) return { again: early }
    wanted.departed = wanted.departure.lend(GRANT_MILLIS)
    if (wanted.departed === undefined) return { again: FULL_AGAIN_MILLIS }
    this.grantedUntil = now + GRANT_MILLIS
    return "go"
  }
}
