/** What is done to call nodes, and to the engine that dispatches to them. */
import type { EngineProcess } from "#test/support/EngineProcess.ts"
import { nowMillis, untilTrue } from "#test/support/until.ts"
import { down, on } from "./Fault.ts"
import type { Stage } from "./Stage.ts"

/** Does something that ends a call node, and waits until it has exited and its calls are settled. */
const toCallNode = (stage: Stage, name: string, run: (node: EngineProcess) => Promise<void>) =>
  stage.deafened(name, async () => {
    const [node] = stage.nodes?.callNodes.toSorted(() => stage.chance() - 0.5) ?? []
    if (node === undefined) return stage.say("  there is none")
    await stage.endCallNode(node, () => run(node))
  })

export const callNodeFaults = on("the engine", {
  "a call node is killed": (stage) =>
    toCallNode(stage, "a call node was killed", async (node) => {
      stage.kills.push(nowMillis())
      node.kill("SIGKILL")
    }),
  "a call node is stopped": (stage) =>
    toCallNode(stage, "a call node was stopped", async (node) => {
      stage.stops++
      node.kill("SIGTERM")
    }),
  "a call node stands still until its calls are settled": (stage) =>
    toCallNode(stage, "a call node stood still", async (node) => {
      stage.kills.push(nowMillis())
      node.kill("SIGSTOP")
      await untilTrue("the end of what it had", async () => (await stage.registered(node.pid)) === 0)
      node.kill("SIGCONT")
    }),
  "a call node stands still for a moment": (stage) =>
    stage.deafened("a call node stood still", async () => {
      const [node] = stage.nodes?.callNodes ?? []
      node?.kill("SIGSTOP")
      await stage.progress(1000, stage.between(500, 3500))
      node?.kill("SIGCONT")
    }),
  "a call node and the engine that dispatches are killed": (stage) =>
    toCallNode(stage, "a call node was killed", async (node) => {
      stage.kills.push(nowMillis())
      node.kill("SIGKILL")
      await down(stage, "SIGKILL")
    }),
  "the engine that dispatches stands still for longer than its links live": (stage) =>
    stage.deafened("the engine stood still", async () => {
      stage.world.engine.kill("SIGSTOP")
      await stage.progress(1000, stage.between(2700, 4200))
      stage.world.engine.kill("SIGCONT")
    })
})
