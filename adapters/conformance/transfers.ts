/** Calls that are handed to somebody else. */
import { Effect } from "effect"
import type { Rule } from "./Case.ts"
import { isSeen } from "./hangingUp.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import type { Scene } from "./Scene.ts"

const PATIENCE_SECONDS = 60

/** A call that somebody has answered, and who can be handed over. */
const transferable = async (scene: Scene) => {
  const engine = await scene.engine()
  const { transfer } = engine.trunk
  if (transfer === undefined) throw new NotAsked("its carrier cannot transfer calls")
  const call = await engine.answered(scene.number("stays"))
  await engine.audio(call)
  const handTo = (to: string) => Effect.runPromise(transfer(call.ref(), { kind: "attended", timeoutSeconds: PATIENCE_SECONDS, to }))
  return { call, engine, handTo }
}

export const transfers: ReadonlyArray<Rule> = [
  {
    name: "transfer: a destination that answers talks to the callee, and the call ends for both",
    holds: async (scene) => {
      const { call, engine, handTo } = await transferable(scene)
      const to = scene.number("stays")
      const outcome = await handTo(to)
      demand(outcome._tag === "Connected", "Connected", () => inWords(outcome), "the callee is with nobody otherwise")
      await scene.untilPhone(to, "up", "it has answered")
      await engine.hangUp(call)
      await engine.ended(call)
      await scene.untilPhone(to, "ended", "it talks to nobody")
      await scene.untilPhone(call.to, "ended", "it talks to nobody")
    }
  },
  {
    name: "transfer: from a destination that is busy, the callee comes back",
    holds: async (scene) => {
      const { call, engine, handTo } = await transferable(scene)
      const outcome = await handTo(scene.number("busy"))
      const isDeclined = outcome._tag === "Declined" && outcome.cause === "user_busy"
      demand(isDeclined, "Declined for user_busy", () => inWords(outcome), "the agent says so to the callee")
      await isSeen(scene, engine, call, "up")
      await engine.hangUp(call)
      await engine.ended(call)
    }
  }
]
