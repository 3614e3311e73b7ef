/** What an agent does when no person answers, but a mailbox, a menu, or a service that asks who is calling before it puts a call through. */
import { ask } from "./Asking.ts"
import { act, type MachineVerdict, put, type Scene, type Step } from "./ConversationState.ts"
import { abandonCalls, dropAnswer, endFor, endNow } from "./Ending.ts"
import { begin } from "./Nodes.ts"
import { rendered } from "./Rendering.ts"
import { say, stopSpeaking } from "./Speech.ts"

/** Stops everything that was being said or done, because it was meant for somebody else. */
const quiet = (step: Step): Step => stopSpeaking(abandonCalls(dropAnswer(step), "A machine answered."))

export const machineHeard = (step: Step, scene: Scene, verdict: MachineVerdict): Step => {
  const { phase, screening } = step.state
  // What is said to it may not be known yet.
  if (phase === "new")
    return verdict === "machine" && scene.plan.settings.onMachine === "hangup" ? machine(step, scene) : put(step, { verdict })
  if ((phase !== "live" && phase !== "delayed") || (verdict === "unknown" && step.state.verdict !== undefined)) return step
  const judged = put(step, { verdict })
  switch (verdict) {
    case "human":
      return screening === "waiting" ? putThrough(judged, scene) : judged
    case "screening":
      return screening === undefined ? introduced(phase === "delayed" ? begin(judged, scene) : judged, scene) : judged
    case "machine":
      return machine(judged, scene)
    case "menu":
    case "unknown":
      return judged
  }
}

const machine = (step: Step, scene: Scene): Step => {
  switch (scene.plan.settings.onMachine) {
    case undefined:
    case "continue":
      return step
    case "hangup":
      return endNow(quiet(step), scene, endFor("voicemail_detected"))
    case "leave_message":
      return toLeaveMessage(put(quiet(step), { phase: "message", messageFate: "not_left" }), scene)
  }
}

const messageIn = ({ state }: Step, scene: Scene): string => rendered(scene, state, scene.plan.settings.machineMessage).trim()

const toLeaveMessage = (step: Step, scene: Scene): Step => {
  const message = messageIn(step, scene)
  return message === "" ? endNow(step, scene, endFor("voicemail_detected")) : act(step, { _tag: "AwaitMoment", message })
}

export const messageMoment = (step: Step, scene: Scene, canSpeak: boolean): Step => {
  const { lines, phase } = step.state
  if (phase !== "message" || lines.length > 0) return step
  if (!canSpeak) return endNow(step, scene, endFor("voicemail_detected"))
  const text = messageIn(step, scene)
  return put(say(step, text, { isInterruptible: false, kind: "message" }), { messageFate: "cut" })
}

/** Says once who is calling and why. */
const introduced = (step: Step, scene: Scene): Step => ask(put(quiet(step), { screening: "waiting", asks: 0 }), scene, "introduce")

/** The person has not heard anything yet. */
const putThrough = (step: Step, scene: Scene): Step => begin(put(quiet(step), { screening: "passed", verdict: "human", asks: 0 }), scene)

/** Somebody spoke while the agent waited to be put through. Undefined: this is an ordinary turn. */
export const whileScreened = (step: Step, scene: Scene, isMachine: boolean): Step | undefined => {
  const { answer, lines, screening } = step.state
  if (screening !== "waiting") return undefined
  const isIntroducing = answer !== undefined || lines.length > 0
  return isMachine || isIntroducing ? step : putThrough(step, scene)
}

export const screeningOver = (step: Step, scene: Scene): Step => endNow(step, scene, endFor("voicemail_detected", { tags: ["screened"] }))
