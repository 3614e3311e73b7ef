/**
 * What an engine that is started again tells the one that decides, which settles the calls of its earlier processes: only this engine hears what some
 * providers say about them, and only its journals prove that a request never left.
 */
import { Effect, FiberSet, Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { TelephonyConfigId } from "#core/Id.ts"
import { type Heard, HeardOfFormerCall } from "#runtime/call/FormerCalls.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { Dispatcher } from "./Dispatcher.ts"
import type { FromNode } from "./messages.ts"

/** How many events are kept for a dispatcher that does not follow yet. */
const MOST_UNTOLD = 1000

interface FormerMeans {
  readonly dispatcher: Pick<Dispatcher["Service"], "isHeard" | "onFollow" | "say">
  /** Whether this engine decides, and settles all calls itself. */
  readonly isTaken: () => boolean
  readonly sentBefore: LocalJournal["Service"]["sentBefore"]
}

/** The first events may come before a dispatcher follows: they are told it as soon as it does, and until then treated as of no former call. */
export const hearing = ({ dispatcher: { isHeard, onFollow, say }, isTaken, sentBefore }: FormerMeans): Heard => {
  const untold: Array<FromNode> = []
  onFollow(() => {
    for (const message of untold.splice(0)) say(message)
  })
  return (callId, configurationId, event) => {
    if (isTaken() || !sentBefore(callId)) return false
    const message = { _tag: "HeardOfFormer", callId, configurationId, event } as const
    if (isHeard()) say(message)
    else if (untold.length < MOST_UNTOLD) untold.push(message)
    return isHeard()
  }
}

/** The dispatcher also hangs up what appears late. */
export const heardLayer = Layer.effect(
  HeardOfFormerCall,
  Effect.gen(function* () {
    const { isTaken } = yield* Charge
    const { sentBefore } = yield* LocalJournal
    return hearing({ dispatcher: yield* Dispatcher, isTaken, sentBefore })
  })
).pipe(Layer.provide(LocalJournal.layer))

/**
 * What the journals say of calls that are not over: contacts whose requests never left are called soon, instead of being in doubt for good; and where
 * others have left, this engine listens, whether or not it is given further calls.
 */
export const journalsLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { onFollow, say } = yield* Dispatcher
    const { earlier, known } = yield* LocalJournal
    const pool = yield* TrunkPool
    const store = yield* AttemptStore
    const fork = yield* FiberSet.makeRuntime()
    const tell = Effect.gen(function* () {
      const journals = earlier()
      if (journals.size === 0) return
      const listened = new Set<TelephonyConfigId>()
      for (const { callId, journal, state, telephonyConfigurationId } of yield* persist(store.live)) {
        if (journal === undefined || !journals.has(journal)) continue
        const { left, undone } = known(callId, journal)
        if (state === "sent" && (left === "never_left" || undone !== undefined)) say({ _tag: "NeverLeft", callId })
        else if (telephonyConfigurationId !== undefined) listened.add(telephonyConfigurationId)
      }
      yield* Effect.forEach(listened, (id) => pool.get(id), { discard: true })
    })
    onFollow(() => void fork(tell))
  })
)
