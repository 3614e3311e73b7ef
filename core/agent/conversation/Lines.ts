/** What happens when a line has been heard, was cut short, or cannot be spoken. */
import { nodeOf, put, type Line, type Scene, type Step } from "./ConversationState.ts"
import { ask } from "./Asking.ts"
import { dropAnswer, endFor, endNow } from "./Ending.ts"
import { cut, isOwed } from "./History.ts"
import { open, speakFirst } from "./Nodes.ts"
import { fill, say, stopSpeaking } from "./Speech.ts"
import { cancelControl, releaseControl } from "./ToolCalls.ts"

/** Lines are heard in order, so all earlier lines have been heard as well. */
export const lineSpoken = (step: Step, scene: Scene, id: number): Step => {
  const line = step.state.lines.find((one) => one.id === id)
  if (line?.isClosed !== true) return step
  return answerOwed(passed(put(step, { unspoken: 0, waitedMillis: 0 }), scene, line), scene, id)
}

const passed = (step: Step, scene: Scene, { id, kind }: Line): Step => {
  const gone = step.state.lines.filter((one) => one.id <= id)
  const rest = put(step, { lines: step.state.lines.filter((one) => one.id > id) })
  if (kind === "message") return endNow(put(rest, { messageFate: "left" }), scene, endFor("voicemail_detected"))
  if (isLast(rest)) return over(rest, scene)
  return gone.reduce((one, line) => releaseControl(one, scene, line.id), rest)
}

/** The callee finished their turn during an announcement that has now been heard: it answered nothing, and no answer is being generated. */
const answerOwed = (step: Step, scene: Scene, id: number): Step => {
  const { answer, batch, history, isCalleeSpeaking, lines, phase } = step.state
  if (phase !== "live" || answer !== undefined || batch !== undefined || lines.length > 0 || isCalleeSpeaking) return step
  const told = history.filter(({ _tag }) => _tag === "Assistant")
  const isAnnouncement = told.length > 0 && !told.some((entry) => entry._tag === "Assistant" && entry.line === id)
  return isAnnouncement && isOwed(history) ? ask(step, scene, "turn") : step
}

const isLast = ({ state: { lastLine, lines, phase } }: Step): boolean => phase === "ending" && !lines.some(({ id }) => id === lastLine)

const over = (step: Step, scene: Scene): Step => endNow(step, scene, step.state.end ?? endFor("user_qualified"))

const mostUnspoken = 3

export const lineFailed = (step: Step, scene: Scene, id: number): Step => {
  const line = step.state.lines.find((one) => one.id === id)
  if (line === undefined) return step
  const { answer, unspoken } = step.state
  const unheard = put(step, { history: cut(step.state.history, id, ""), unspoken: unspoken + 1 })
  if (line.instead !== undefined && (scene.plan.canHear || line.instead !== ""))
    return instead(put(unheard, { lines: unheard.state.lines.filter((one) => one !== line) }), scene, line.instead)
  if (line.kind === "message") return endNow(put(unheard, { messageFate: "not_left" }), scene, endFor("voicemail_detected"))
  if (unspoken + 1 >= mostUnspoken) return endNow(unheard, scene, endFor("pipeline_error"))
  const whole = answer?.line === id && answer.end === undefined ? dropAnswer(unheard) : unheard
  if (whole !== unheard && nodeOf(scene, step.state).type === "endCall") return endNow(whole, scene, endFor("user_qualified"))
  const after = passed(whole, scene, line)
  const { batch, lines, phase } = after.state
  if (phase !== "live" || lines.length > 0) return after
  // The callee hears nothing, and the agent has nothing else to say.
  if (!scene.plan.canHear) return open(after, scene)
  // The callee keeps waiting.
  if (line.kind === "filler" || after.state.answer !== undefined || batch !== undefined) return fill(after, scene)
  return say(after, scene.plan.settings.lines.reprompt, { isInterruptible: true, isTold: true })
}

const instead = (step: Step, scene: Scene, text: string): Step =>
  text === "" ? speakFirst(step, scene) : say(step, text, { isInterruptible: scene.plan.graph.start.allowsInterruption, isTold: true })

/** The callee's turn follows. */
export const lineInterrupted = (step: Step, scene: Scene, id: number, heard: string): Step => {
  const { answer, history, lines, phase } = step.state
  const line = lines.find((one) => one.id === id)
  const told = put(step, { history: cut(history, id, heard) })
  if (line === undefined) return told
  if (line.kind === "message") return endNow(put(told, { messageFate: "cut" }), scene, endFor("voicemail_detected"))
  const rest = stopSpeaking(put(told, { lines: lines.filter((one) => one !== line) }))
  if (phase === "ending") return over(rest, scene)
  if (answer?.end !== undefined) return endNow(rest, scene, answer.end)
  if (answer !== undefined && nodeOf(scene, step.state).type === "endCall") return endNow(rest, scene, endFor("user_qualified"))
  return cancelControl(put(dropAnswer(rest), { isCalleeSpeaking: true }), scene)
}
