/** Calls on a test clock as the rows of a table: what the world is like, what happens in it, and what the call's log then says. */
import { Effect } from "effect"
import type { Test } from "tap"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { play, type Scene } from "./callScene.ts"
import type { World } from "./fakes.ts"

type Act = Parameters<typeof play>[1]

interface Given extends Partial<Omit<Scene, "world">> {
  readonly world?: Partial<World>
}

/** Changes the scene before the call is dialed. */
export const given =
  ({ world, ...own }: Given) =>
  (scene: Scene): void => {
    Object.assign(scene.world, world)
    Object.assign(scene, own)
  }
/** Changes the world while the call lasts. */
export const sets = ({ world }: Scene, changes: Partial<World>) => Effect.sync(() => void Object.assign(world, changes))
/** Notes in the call's log that this moment has come. */
export const notes = ({ world }: Scene, entry: string) => Effect.sync(() => void world.log.push(entry))

/** Plays the call, and compares its log. */
export const check = async (t: Test, name: string, arrange: Given | ((scene: Scene) => void), act: Act, log: ReadonlyArray<string>) => {
  const played = await play(typeof arrange === "function" ? arrange : given(arrange), act)
  t.strictSame(played.log, log, name)
  return played
}

export const rang: TrunkEvent = { _tag: "Rang" }
export const detected: TrunkEvent = { _tag: "Detected", who: "machine" }
/** The end of a call that was answered, and that of one that has never left. */
export const overAfterTalk = ["line free, 0 slots", "finish", "ended answered"]
export const withheld = ["void", "line free, 0 slots"]
