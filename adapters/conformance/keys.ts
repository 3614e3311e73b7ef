/** DTMF in both directions. */
import { Effect } from "effect"
import type { Rule } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"

/** What the callee presses. */
const PRESSED = "1234#"
const OURS = "12#"

export const keys: ReadonlyArray<Rule> = [
  {
    name: "keys: those of the callee are reported once and in order, if the manifest says so",
    holds: async (scene) => {
      const engine = await scene.engine()
      const isTold = scene.adapter.manifest.tells?.includes("keys") === true
      const call = await engine.answered(scene.number("presses"))
      await engine.audio(call)
      await engine.ended(call)
      const pressed = call.of("Dtmf").map(({ digit }) => digit)
      const expected = isTold ? PRESSED : ""
      const why = isTold ? "callees choose with their keys" : "the manifest does not list them: add `keys` to `tells`"
      demand(pressed.join("") === expected, inWords(expected), () => inWords(pressed.join("")), why)
    }
  },
  {
    name: "keys: ours arrive at the callee, if the carrier can send any",
    holds: async (scene) => {
      const engine = await scene.engine()
      const { sendDtmf } = engine.trunk
      if (sendDtmf === undefined) throw new NotAsked("its carrier sends no keys")
      const call = await engine.answered(scene.number("stays"))
      await Effect.runPromise(sendDtmf(call.ref(), OURS))
      const pressed = async () => ((await scene.phone(call.to, "pressed")) === OURS ? OURS : undefined)
      await scene.until(`the callee gets ${OURS}`, pressed, () => "others", "agents find their way through menus with keys")
      await engine.hangUp(call)
    }
  }
]
