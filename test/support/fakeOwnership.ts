/** The campaign's row in the in-memory world, and its log. */
import { Effect } from "effect"
import type { AutomaticStop, CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { World } from "./fakes.ts"
import { statement } from "./fakeStatement.ts"

export const ownershipOf = (world: World): CampaignOwnership["Service"] => ({
  breakerEntries: () => Effect.succeed([]),
  judgeBreaker: () => Effect.succeed(false),
  log: (_, { details, event }) =>
    statement(world, "log", () => {
      world.entries.push(event)
      world.details.push(details)
    }),
  look: (_, ownerEpoch) =>
    statement(world, "look", () => (world.state === "running" && world.plan.ownerEpoch === ownerEpoch ? world.plan : undefined)),
  own: () =>
    statement(world, "own", () => {
      world.change({ ownerEpoch: world.plan.ownerEpoch + 1 })
      return world.state === "running" ? world.plan : undefined
    }),
  recount: () => Effect.succeed(true),
  stop: (_, { event }: AutomaticStop) =>
    statement(world, "stop", () => {
      const wasRunning = world.state === "running"
      if (wasRunning) world.entries.push(event)
      world.pauseRow()
      return wasRunning
    })
})
