/**
 * Detects that the wall clock (the database's) was set or that the machine slept, so that campaigns waiting for their window or a retry look again. All other
 * waits use steady time and are unaffected.
 */
import { Clock, Effect, Layer } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"

const LOOK = "1 second"
/** Smaller steps are gradual corrections; they accumulate until they reach this size. */
const STEP_MILLIS = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const inboxes = yield* CampaignInboxes
    const apart = () => clock.currentTimeMillisUnsafe() - SteadyTime.nowOf(clock)
    let lastSeen = apart()
    const look = Effect.suspend(() => {
      const latest = apart()
      // Each campaign compares with its own last decision: the clock may have been set twice between two checks.
      inboxes.clockSet(latest, STEP_MILLIS)
      const stepped = latest - lastSeen
      if (Math.abs(stepped) < STEP_MILLIS) return Effect.void
      lastSeen = latest
      return Effect.logWarning("the clock was set", { millis: Math.round(stepped) })
    })
    yield* Effect.sleep(LOOK).pipe(Effect.andThen(look), Effect.forever, Effect.forkScoped)
  })
)
