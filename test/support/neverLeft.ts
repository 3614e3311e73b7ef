/** What became of calls that the callees never saw; and a database that can be taken away. */
import type { Test } from "tap"
import { attemptsOf, type World } from "./engine.ts"
import { startPostgresProxy } from "./PostgresProxy.ts"

export const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")

/** Attempts that hold on to their contact, or have spent it, although no callee ever saw them. */
export const wrongedBy = async (world: World, ids: ReadonlyArray<number>) => {
  const seen = new Set(dialsOf(world).map(({ channelId }) => channelId))
  const attempts = (await Promise.all(ids.map((id) => attemptsOf(world.sql, id)))).flat()
  return attempts.filter(({ id, state }) => state !== "void" && !seen.has(id))
}

/** The engine again, with a proxy between it and its database. */
export const launchBehindProxy = async (t: Test, world: World) => {
  await world.end("SIGTERM")
  const proxy = await startPostgresProxy(world.environment["DATABASE_URL"] ?? "")
  t.teardown(() => proxy.stop())
  await world.launch({ DATABASE_URL: proxy.url })
  return proxy
}
