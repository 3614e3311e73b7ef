/** The engine dies and comes back while calls are in every state: it only has its references to them, which must be enough. */
import type { Rule } from "./Case.ts"
import { callThat, isHungUp, isSeen, type Stand } from "./hangingUp.ts"

const restarted = (stand: Stand): Rule => ({
  name: `restart: a call that is ${stand} is found and ended with nothing but its reference`,
  holds: async (scene) => {
    scene.excuse("restart")
    const engine = await scene.engine()
    const call = await callThat(scene, engine, stand)
    await engine.restart()
    await isSeen(scene, engine, call, stand)
    if (stand === "queued") {
      await engine.hangUp(call, "originator_cancel")
      scene.need("holdQueue")(false)
      await engine.isGone(call)
    } else await isHungUp(scene, engine, call, "node_lost")
    await scene.wasDialed(call.to, { requested: 1, rung: stand === "queued" ? 0 : 1 })
  }
})

export const restarts: ReadonlyArray<Rule> = (["ringing", "queued", "up"] as const).map(restarted)
