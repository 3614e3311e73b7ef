/** The statements about a campaign that keeps failing, in the in-memory world. */
import type { FaultPauses } from "#core/campaign/FaultPause.ts"
import type { World } from "./fakes.ts"
import { statement } from "./fakeStatement.ts"

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
