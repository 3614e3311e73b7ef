/** Finds what was recorded for calls that no callee ever saw, and runs an engine whose database can be cut off. */
import type { Test } from "tap"
import { attemptsOf, type World } from "./engine.ts"
import { startPostgresProxy } from "./PostgresProxy.ts"

export const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")
/** The number of each dial, sorted. */
export const numbersDialed = (world: World) =>
  dialsOf(world)
    .map(({ number }) => number)
    .toSorted()

/** Attempts that still hold their contact, or have used it up, although no callee ever saw them. */
export const wrongedBy = async (world: World, ids: ReadonlyArray<number>) => {
  const seen = new Set(dialsOf(world).map(({ channelId }) => channelId))
  const attempts = (await Promise.all(ids.map((id) => attemptsOf(world.sql, id)))).flat()
  return attempts.filter(({ id, state }) => state !== "void" && !seen.has(id))
}

/**
 * Returns how many contacts were never called because the engine was killed between the journal's line and the first byte. Both are written in
 * one step, so there is at most one for each kill. Nobody can know that those requests did not leave, so their outcome is `unknown`; any other
 * contact that was never called fails the test.
 */
export const thenKillsLeaveFewDoubts = async (t: Test, world: World, ids: ReadonlyArray<number>, kills: number): Promise<number> => {
  const wronged = await wrongedBy(world, ids)
  const failed = wronged.filter(({ outcome }) => outcome !== "unknown")
  t.strictSame(failed, [], "then no contact has failed because of a call that never left")
  t.ok(wronged.length <= kills, `then each kill leaves at most one doubt about a call that never left: ${wronged.length} by ${kills} kills`)
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
