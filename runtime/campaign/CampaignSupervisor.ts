/**
 * Campaigns as cluster entities: each running campaign has one owner. The `Run` message keeps a campaign owned for as long as it runs, also if
 * its entity dies; a process that starts sends one to every campaign that must be owned. Two owners overlapping briefly do no harm: the later one
 * has raised the epoch that every claim and stop must match.
 */
import { Cause, Effect, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { CampaignId } from "#core/Id.ts"
import { Signals, StopUnconfirmed } from "#core/Signals.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { sqlFailuresOf } from "#runtime/postgres/sqlState.ts"
import { Promises } from "#runtime/journal/Promises.ts"
import { CampaignActor } from "./CampaignActor.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import { died } from "#core/campaign/stops.ts"

/** This many deaths within a minute pause the campaign. */
const DEATHS_TO_PAUSE = 5
const DEATH_WINDOW_MILLIS = 60_000
/** Delays before the engine's successive attempts to resume the campaign. */
const RESUME_AFTER = ["1 minute", "2 minutes", "5 minutes"] as const
const LONGEST_RESUME = "10 minutes"
/** How often a campaign checks whether its database is back. */
const DATABASE_MILLIS = 2000
/** How long a pause waits for the campaign's owner to answer. */
const WITHDRAW_TIMEOUT = "5 seconds"
/** When a client should retry a pause that has not been confirmed by then. */
const ASK_AGAIN_SECONDS = 2

const Campaign = Entity.make("Campaign", [
  Rpc.make("Run", { payload: { occasion: Schema.String }, primaryKey: ({ occasion }) => occasion })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Withdraw"),
  Rpc.make("Look")
])

/** The entity behind every running campaign. */
export const layer = Campaign.toLayer(
  Effect.gen(function* () {
    const { entityId } = yield* Entity.CurrentAddress
    const id = CampaignId.make(Number(entityId))
    const actor = yield* CampaignActor
    const inboxes = yield* CampaignInboxes
    const faults = yield* FaultPauses
    const lock = yield* EngineLock

    /** In a replaced engine, campaigns look finished: this never returns there. */
    const isOver = lock.awaitHeld
    const proving = Effect.sleep(DEATH_WINDOW_MILLIS).pipe(Effect.andThen(faults.proved(id)), Effect.andThen(Effect.never))

    /** Lasts until the campaign has stopped and is not to be resumed by the engine. */
    const live = Effect.gen(function* () {
      while (true) {
        yield* Effect.raceFirst(actor.run(id), proving)
        const pause = yield* faults.find(id)
        if (pause === undefined) return yield* isOver
        yield* Effect.sleep(RESUME_AFTER[pause.tries] ?? LONGEST_RESUME)
        yield* lock.awaitHeld
        if (!(yield* faults.tryAgain(id, pause))) return
        yield* Effect.logInfo("a campaign that failed is tried again", { tries: pause.tries + 1 })
      }
    })

    const supervised = Effect.gen(function* () {
      let deaths: ReadonlyArray<number> = []
      while (true) {
        const exit = yield* Effect.exit(live)
        if (exit._tag === "Success") return
        if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
        if (isDatabaseAway(exit.cause)) {
          yield* Effect.logWarning("a campaign waits for its database", Cause.squash(exit.cause))
          yield* Effect.sleep(DATABASE_MILLIS)
          continue
        }
        const now = yield* SteadyTime.now
        yield* Effect.logError("a campaign's actor died", exit.cause)
        deaths = [...deaths, now].filter((at) => at > now - DEATH_WINDOW_MILLIS)
        yield* faults
          .failed(id, deaths.length >= DEATHS_TO_PAUSE, died)
          .pipe(Effect.catchCause((cause) => Effect.logError("a failing campaign could not be paused", cause)))
        yield* Effect.sleep(1000 * 2 ** (deaths.length - 1))
      }
    })
    return Campaign.of({
      // Forked, so that the entity keeps receiving messages while the campaign runs.
      Run: () => Rpc.fork(supervised),
      Withdraw: () => Rpc.fork(inboxes.withdraw(id)),
      Look: () => Effect.sync(() => inboxes.find(id)?.look())
    })
  }),
  { concurrency: "unbounded", disableFatalDefects: true, maxIdleTime: "1 minute" }
)

const away: ReadonlySet<string> = new Set(["ConnectionError", "StatementTimeoutError", "LockTimeoutError"])
/** SQLSTATE classes: connection exceptions, and shutdown by an operator or a failing server. */
const awayState = /^(08|57P)/

/** A lost database is not the campaign's fault and does not count as a death: the campaign waits and resumes by itself. */
const isDatabaseAway = (cause: Cause.Cause<unknown>): boolean =>
  sqlFailuresOf(cause).some(({ state, tag }) => away.has(tag) || awayState.test(state))

/** Signals to campaigns, on whichever node owns them. */
export const layerSignals = Layer.effect(
  Signals,
  Effect.gen(function* () {
    const client = yield* Campaign.client
    const inboxes = yield* CampaignInboxes
    const promises = yield* Promises
    const { quiet } = yield* CallNodes
    const unheard = Effect.catchCause((cause: Cause.Cause<unknown>) => Effect.logWarning("a signal to a campaign was lost", cause))
    return {
      campaignRunning: (id, occasion) =>
        Effect.andThen(
          Effect.sync(() => promises.note({ _tag: "Started", id })),
          client(String(id)).Run({ occasion }, { discard: true }).pipe(unheard, Effect.asVoid)
        ),
      campaignStopped: (id) =>
        // The permits end now, whether or not the owner hears the signal. What call nodes were allowed to send just before may still leave.
        Effect.andThen(
          Effect.andThen(
            Effect.sync(() => {
              inboxes.mayHaveStopped(id)
              promises.note({ _tag: "Stopped", dialEpoch: inboxes.find(id)?.dialEpoch ?? null, id })
            }),
            Effect.andThen(inboxes.withdraw(id), quiet)
          ),
          client(String(id))
            .Withdraw()
            .pipe(
              Effect.timeout(WITHDRAW_TIMEOUT),
              Effect.tapCause((cause) => Effect.logWarning("it is not confirmed yet that a campaign has stopped", cause)),
              Effect.catchCause(() => Effect.fail(new StopUnconfirmed({ retryAfterSeconds: ASK_AGAIN_SECONDS })))
            )
        ),
      campaignChanged: (id) => client(String(id)).Look(undefined, { discard: true }).pipe(unheard, Effect.asVoid)
    }
  })
)
