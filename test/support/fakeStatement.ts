/** The database of the in-memory world, one statement at a time. */
import { Effect } from "effect"
import type { World } from "./fakes.ts"

/** One statement to the database, which may be down. */
export const statement = <A>(world: World, name: string, run: () => A) =>
  Effect.suspend(() => {
    world.statements.push(name)
    return world.isDown ? Effect.die(new Error("the database is down")) : Effect.sync(run)
  })
