/** Several processes on one database. */
import type { Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import type { World } from "#test/support/engine.ts"
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
