/** An engine with a long campaign, for stories in which another process tries to use its database. */
import type { Test } from "tap"
import { numbersOf, World } from "./engine.ts"

/** The campaign's concurrency limit. */
export const cap = 4

export const longCampaign = async (t: Test, environment: Readonly<Record<string, string>> = {}) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 200, seed: 5, talkMillis: 3000 },
    environment: { DRAIN: "0", ORG_CONCURRENCY: "50", RECORDINGS: "off", ...environment }
  })
  const { id } = await world.campaign(numbersOf(1000, ["01"]), { max_concurrency: cap })
  return { id, world }
}

/** The originates since a moment on the log's clock. */
export const originatesSince = (world: World, at: number) =>
  world.emulator.log.entries.filter((entry) => entry.kind === "originate" && entry.at >= at)

/** The ends of calls that we hung up. */
export const hungUpByUs = ({ emulator }: World) => emulator.log.entries.filter(({ by, kind }) => kind === "ended" && by === "us")

/** What our records say about the calls that we hung up, so that a story whose calls must not be hung up shows why one was. */
export const recordsOfHungUp = async (world: World) => {
  const ids = hungUpByUs(world).flatMap(({ channelId }) => channelId ?? [])
  const rows = await world.sql<Array<{ id: string; node: string; outcome: string | null; cause: string | null }>>`
    SELECT ids.id, a.node, a.state, a.outcome, a.hangup_cause AS cause
    FROM unnest(${ids}::text[]) AS ids (id) LEFT JOIN attempts a ON a.id::text = ids.id`
  return [...rows]
}
