/** Several processes on one database. */
import type { Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { until, untilTrue, type World } from "#test/support/engine.ts"
import { type EngineProcess, endsWith, type Environment, spawnEngine } from "#test/support/EngineProcess.ts"

/** What engines with data folders of their own must have in common. */
export const sharing = async (t: Test): Promise<Environment> => ({
  FILES_DIR: temporaryFolder(t),
  RECORDINGS: "off",
  SECRETS_KEY: "5".repeat(64)
})

/** Another process, with a data folder of its own, which ends with the test. `release`: the folder of its program, if that differs. */
export const another = async (t: Test, world: World, environment: Environment, release?: string): Promise<EngineProcess> => {
  const engine = spawnEngine({ ...world.environment, DATA_DIR: temporaryFolder(t), ...environment }, undefined, release)
  endsWith(t, engine)
  return engine
}

/**
 * As many calls as the cap allows, all answered, some of them on each of these engines. They last until the emulator lets callees hang up again, or for
 * the five minutes that an agent talks at most.
 */
export const holdCalls = async ({ emulator, sql }: World, cap: number, ...names: ReadonlyArray<string>): Promise<void> => {
  for (;;) {
    emulator.letTalk(true)
    const up = await until("answered calls up to the cap", async () => {
      const answered = await sql<Array<{ node: string }>>`SELECT node FROM attempts WHERE state = 'answered'`
      return answered.length === cap && emulator.live() === cap ? new Set(answered.map(({ node }) => node)) : undefined
    })
    if (names.every((name) => up.has(name))) return
    emulator.letTalk(false)
    await untilTrue("room for others", () => emulator.live() < cap)
  }
}
