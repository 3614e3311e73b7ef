/** Campaigns on a test clock as the rows of a table: what the world is like at first, and what changes in it. */
import { afterwards, campaign, type Scene } from "./campaignScene.ts"
import type { World } from "./fakes.ts"

/** A campaign in a world that differs from the usual. */
export const campaignIn =
  (changes: Partial<World>, ...[contacts, plan]: Parameters<typeof campaign>) =>
  (world: World): void => {
    campaign(contacts, plan)(world)
    Object.assign(world, changes)
  }
/** Changes the world while the campaign runs. */
export const sets = ({ world }: Scene, changes: Partial<World>) => afterwards(() => Object.assign(world, changes))
export const areUntouched = (contacts: World["contacts"]) =>
  contacts.every(({ retriesUsed, state }) => state === "pending" && retriesUsed === 0)
