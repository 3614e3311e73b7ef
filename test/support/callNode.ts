/** A second engine beside that of a story, with a data folder of its own. */
import type { Test } from "tap"
import { temporaryFolder } from "./dataFolder.ts"
import type { World } from "./engine.ts"
import { type EngineProcess, endsWith, type Environment, spawnEngine } from "./EngineProcess.ts"
import { untilTrue } from "./until.ts"

/** Resolves once it carries calls for the one that decides. It ends with the test. Should that one end, it takes over, unless it stands still. */
export const startCallNode = async (t: Test, world: World, name = "left", environment: Environment = {}): Promise<EngineProcess> => {
  const folder = temporaryFolder(t)
  const own = { DATA_DIR: folder, NODE_NAME: name, PORT: "0" }
  const node = spawnEngine({ ...world.environment, ...own, ...environment }, world.folder)
  endsWith(t, node)
  await untilTrue("a call node that takes calls", () => world.output().includes(`"node":"${name}"`))
  return node
}
