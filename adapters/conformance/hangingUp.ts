/** Ending calls in every state, and looking at them there. */
import { type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import { isAlive, type Presence } from "#core/provider/Adapter.ts"
import type { Rule } from "./Case.ts"
import type { EngineSide } from "./EngineSide.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { PlacedCall } from "./PlacedCall.ts"
import type { Scene } from "./Scene.ts"

/** What a look at a call may say, in each of its states. Before the answer, not every carrier knows whether a phone rings. */
const looks: Readonly<Record<"queued" | "ringing" | "up", ReadonlyArray<Presence>>> = {
  queued: ["queued"],
  ringing: ["ringing", "queued"],
  up: ["up"]
}
export type Stand = keyof typeof looks

/** A call in this state. */
export const callThat = async (scene: Scene, engine: EngineSide, stand: Stand): Promise<PlacedCall> => {
  if (stand === "up") return await engine.answered(scene.number("stays"))
  if (stand === "ringing") {
    const call = await engine.accepted(scene.number("ringsOut"))
    if (scene.adapter.manifest.tells?.includes("ringing") === true)
      await engine.told(call, "Rang", "the manifest says that ringing is reported")
    else await scene.untilPhone(call.to, "ringing", "the call was accepted")
    return call
  }
  if (scene.adapter.manifest.tells?.includes("queue") !== true) throw new NotAsked("its carrier does not report a queue")
  scene.need("holdQueue")(true)
  return await engine.accepted(scene.number("stays"))
}

export const isSeen = async (scene: Scene, engine: EngineSide, call: PlacedCall, stand: Stand): Promise<void> => {
  let presence: Presence | undefined
  const find = async () => {
    presence = await engine.look(call)
    return (presence !== undefined && looks[stand].includes(presence)) || undefined
  }
  await scene.until(
    `a look finds the call ${looks[stand].join(" or ")}`,
    find,
    () => inWords(presence),
    "after a restart, looks are all that the engine has"
  )
}

/** The call was hung up by us, and no phone is left in it. `causes`: undefined for any. */
export const isHungUp = async (scene: Scene, engine: EngineSide, call: PlacedCall, cause: HangupCause): Promise<void> => {
  await engine.hangUp(call, cause)
  await engine.ended(call)
  await scene.wasEndedBy(call.to, "us")
  await engine.isGone(call)
}

/** Uses another process, because what this one remembers proves nothing after a crash. */
const isProvenUndialed = async (scene: Scene, engine: EngineSide, call: PlacedCall): Promise<void> => {
  const isTold = scene.adapter.manifest.tells?.includes("undialed") === true
  await engine.restart()
  const presence = await engine.look(call)
  demand(
    (presence === "never_placed") === isTold,
    isTold ? "a look that says `never_placed`" : "no proof: add `undialed` to `tells`",
    () => inWords(presence),
    "with the proof the contact is called again, and without it never"
  )
}

const isNotUndialed = async (scene: Scene, engine: EngineSide, call: PlacedCall): Promise<void> => {
  if (scene.adapter.manifest.tells?.includes("undialed") !== true) return
  const presence = await engine.look(call)
  demand(presence !== "never_placed", "no proof that it never rang", () => inWords(presence), "its contact would be called twice")
}

export const hangingUp: ReadonlyArray<Rule> = [
  ...(["ringing", "up"] as const).map(
    (stand): Rule => ({
      name: `hang-up: a look finds a call that is ${stand} in that state, and the call ends when we hang up`,
      holds: async (scene) => {
        const engine = await scene.engine()
        const call = await callThat(scene, engine, stand)
        await isSeen(scene, engine, call, stand)
        await isHungUp(scene, engine, call, stand === "up" ? "agent_hangup" : "originator_cancel")
        await isNotUndialed(scene, engine, call)
        demand(call.has("Answered") === (stand === "up"), "an answer only if there was one", () => call.story(), "it decides the outcome")
        await scene.wasDialed(call.to, { requested: 1, rung: 1 })
      }
    })
  ),
  {
    name: "hang-up: a call that was only just accepted ends when we hang up",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.accepted(scene.number("ringsOut"))
      await engine.hangUp(call, "originator_cancel")
      await engine.isGone(call)
      demand(!call.has("Answered"), "no answer", () => call.story(), "nobody has answered")
      await scene.wasDialed(call.to, { requested: 1 })
    }
  },
  {
    name: "hang-up: a call in the carrier's queue is taken out of it, and never rings",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await callThat(scene, engine, "queued")
      await isSeen(scene, engine, call, "queued")
      await engine.hangUp(call, "originator_cancel")
      scene.need("holdQueue")(false)
      await engine.isGone(call)
      await isProvenUndialed(scene, engine, call)
      await scene.wasDialed(call.to, { requested: 1, rung: 0 })
    }
  },
  {
    name: "hang-up: a callee who hangs up has ended the call",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.answered(scene.number("leaves"))
      const cause = await engine.ended(call)
      demand(mayHideAnswer(cause), "an ordinary end", () => cause, "a conversation that ended normally is not a failure")
      await engine.isGone(call)
    }
  },
  {
    name: "hang-up: a line that breaks has ended the call",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.answered(scene.number("breaks"))
      await engine.ended(call)
      await engine.isGone(call)
    }
  },
  {
    name: "hang-up: of a call that has already ended, it succeeds and reports nothing more",
    holds: async (scene) => {
      const engine = await scene.engine()
      const call = await engine.accepted(scene.number("busy"))
      const cause = await engine.ended(call)
      await engine.hangUp(call)
      demand(call.cause() === cause && !call.has("Answered"), `only the end ${cause}`, () => call.story(), "the outcome stands")
    }
  },
  {
    name: "hang-up: a call of which there is no trace is never seen alive",
    holds: async (scene) => {
      const engine = await scene.engine()
      const stranger = new PlacedCall(scene.number("stays"), scene.world.callerId)
      const presence = await engine.look(stranger)
      demand(
        presence === undefined || !isAlive(presence),
        "no live call",
        () => inWords(presence),
        "another call would be hung up in its place"
      )
    }
  }
]
