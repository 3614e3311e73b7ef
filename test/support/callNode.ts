/** A call node beside the engine of a story, with a data folder of its own. */
import type { Test } from "tap"
import { temporaryFolder } from "./dataFolder.ts"
import type { World } from "./engine.ts"
import { type EngineProcess, type Environment, spawnEngine } from "./EngineProcess.ts"
import { untilTrue } from "./until.ts"

/** Resolves once the dispatcher has found it. It ends with the test. */
export const startCallNode = async (t: Test, world: World, name = "left", environment: Environment = {}): Promise<EngineProcess> => {
  const folder = await temporaryFolder(t)
  const own = { DATA_DIR: folder, NODE_NAME: name, PORT: "0", ROLE: "calls" }
  const node = spawnEngine({ ...world.environment, ...own, ...environment }, world.folder)
  t.teardown(async () => {
    node.kill("SIGCONT")
    node.kill("SIGKILL")
    await node.exited
  })
  await untilTrue("a call node that takes calls", () => world.output().includes(`"node":"${name}"`))
  return node
}
