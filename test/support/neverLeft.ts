/** Finds what was recorded for calls that the callees never saw; and runs an engine whose database can be cut off. */
import type { Test } from "tap"
import { attemptsOf, type World } from "./engine.ts"
import { startPostgresProxy } from "./PostgresProxy.ts"

export const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")

/** Attempts that still hold or have used up their contact, although no callee ever saw them. */
export const wrongedBy = async (world: World, ids: ReadonlyArray<number>) => {
  const seen = new Set(dialsOf(world).map(({ channelId }) => channelId))
  const attempts = (await Promise.all(ids.map((id) => attemptsOf(world.sql, id)))).flat()
  return attempts.filter(({ id, state }) => state !== "void" && !seen.has(id))
}

/**
 * How many contacts were never called because the engine was killed between its journal's line and the first byte. Both are written in one step, so
 * that is one for each kill at most. Nobody can know that they did not leave, so they are `unknown`; any other contact that was never called fails
 * the test.
 */
export const thenKillsLeaveFewDoubts = async (t: Test, world: World, ids: ReadonlyArray<number>, kills: number): Promise<number> => {
  const wronged = await wrongedBy(world, ids)
  t.strictSame(
    wronged.filter(({ outcome }) => outcome !== "unknown"),
    [],
    "then no contact has failed because of a call that never left"
  )
  t.ok(wronged.length <= kills, `then a kill leaves one doubt at most of a call that never left: ${wronged.length} by ${kills} kills`)
  return wronged.length
}

/** Restarts the engine with a proxy between it and its database. */
export const launchBehindProxy = async (t: Test, world: World) => {
  await world.end("SIGTERM")
  const proxy = await startPostgresProxy(world.environment["DATABASE_URL"] ?? "")
  t.teardown(() => proxy.stop())
  await world.launch({ DATABASE_URL: proxy.url })
  return proxy
}
