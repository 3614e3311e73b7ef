/** Several processes on one database. */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Test } from "tap"
import { removeData } from "#test/support/dataFolder.ts"
import type { World } from "#test/support/engine.ts"
import { type EngineProcess, type Environment, spawnEngine } from "#test/support/EngineProcess.ts"

export const newFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-cluster-"))
  t.teardown(() => removeData(folder))
  return folder
}

/** What engines with data folders of their own must have in common. */
export const sharing = async (t: Test): Promise<Environment> => ({
  FILES_DIR: await newFolder(t),
  RECORDINGS: "off",
  SECRETS_KEY: "5".repeat(64)
})

/** Another process, with a data folder of its own, which ends with the test. `release`: the folder of its program, if that differs. */
export const another = async (t: Test, world: World, environment: Environment, release?: string): Promise<EngineProcess> => {
  const engine = spawnEngine({ ...world.environment, DATA_DIR: await newFolder(t), ...environment }, undefined, release)
  t.teardown(async () => {
    engine.kill("SIGCONT")
    engine.kill("SIGKILL")
    await engine.exited
  })
  return engine
}
