/** The database of the in-memory world, one statement at a time: what is asked of a campaign's row and its log. */
import { Clock, Effect } from "effect"
import type { AutomaticStop, CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { rememberedEvents } from "#core/campaign/LastWords.ts"
import type { FaultPauses } from "#core/campaign/FaultPause.ts"
import type { World } from "./fakes.ts"

/** One statement to the database, which may be down. */
export const statement = <A>(world: World, name: string, run: () => A) =>
  Effect.suspend(() => {
    world.statements.push(name)
    return world.isDown ? Effect.die(new Error("the database is down")) : Effect.sync(run)
  })

export const ownershipOf = (world: World): CampaignOwnership["Service"] => ({
  breakerEntries: () => Effect.succeed([]),
  judgeBreaker: () => Effect.succeed(false),
  lastWords: () => statement(world, "last words", () => world.words.toReversed().filter(({ event }) => rememberedEvents.includes(event))),
  log: (_, entry) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      statement(world, "log", () => {
        world.entries.push(entry.event)
        world.messages.push(entry.message)
        world.details.push(entry.details)
        world.words.push({ ...entry, at, details: entry.details ?? null })
      })
    ),
  look: (_, ownerEpoch) =>
    statement(world, "look", () => (world.state === "running" && world.plan.ownerEpoch === ownerEpoch ? world.plan : undefined)),
  own: () =>
    statement(world, "own", () => {
      world.change({ ownerEpoch: world.plan.ownerEpoch + 1 })
      return world.state === "running" ? world.plan : undefined
    }),
  recount: () => Effect.succeed(true),
  stop: (_, { event, message }: AutomaticStop) =>
    statement(world, "stop", () => {
      const wasRunning = world.state === "running"
      if (wasRunning) {
        world.entries.push(event)
        world.messages.push(message)
      }
      world.pauseRow()
      return wasRunning
    })
})

/** The statements about a campaign that keeps failing. */
export const faultPausesOf = (world: World): FaultPauses["Service"] => ({
  failed: (_, isTooOften, { event }) =>
    statement(world, "failed", () => {
      const before = world.resumeTries
      if (world.state !== "running" || (before === undefined && !isTooOften)) return
      world.pauseRow()
      world.resumeTries = before ?? 0
      if (before === undefined) world.entries.push(event)
    }),
  find: () =>
    statement(world, "find", () =>
      world.state === "paused" && world.resumeTries !== undefined
        ? { dialEpoch: world.plan.dialEpoch, tries: world.resumeTries }
        : undefined
    ),
  proved: () =>
    statement(world, "proved", () => {
      if (world.state !== "running" || world.resumeTries === undefined) return
      world.resumeTries = undefined
      world.entries.push("campaign_resumed")
    }),
  tryAgain: (_, { dialEpoch }) =>
    statement(world, "tryAgain", () => {
      const tries = world.resumeTries
      if (world.state !== "paused" || tries === undefined || dialEpoch !== world.plan.dialEpoch) return false
      world.resumeRow()
      world.resumeTries = tries + 1
      return true
    })
})
