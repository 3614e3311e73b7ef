/** Handles what the callee says, and the keys that they press. */
import { withKey } from "#core/call/Dtmf.ts"
import { ask, sayFarewell } from "./Asking.ts"
import { answerAgain } from "./Answers.ts"
import { nodeOf, put, type Scene, type Step } from "./ConversationState.ts"
import { dropAnswer, endFor } from "./Ending.ts"
import { farEndOf, personIn } from "./FarEnd.ts"
import { isOptOut } from "./Heard.ts"
import { type Entry, isOwed, longestTurn, userEntry, withEntries } from "./History.ts"
import { machineHeard, whileScreened } from "./Machines.ts"
import { begin } from "./Nodes.ts"
import { closeLine, fill, isDeaf, stopSpeaking } from "./Speech.ts"
import { cancelControl, optedOut, optOut } from "./ToolCalls.ts"

/** Machines give themselves away in their first sentences. Later, "press one" is something a person might say. */
const firstTurns = 3
const mostUnanswered = 20

/** Nobody listens to the callee during a line that must be heard, so no turn would follow. */
export const calleeStarted = (step: Step): Step =>
  step.state.phase === "live" && !isDeaf(step) ? put(step, { isCalleeSpeaking: true }) : step

/** Recognition takes time. Meanwhile, the agent does not continue the line that the callee interrupted. */
export const calleeWaits = (step: Step, scene: Scene): Step => {
  const { answer, phase } = step.state
  if (phase !== "live") return step
  const settled = answer?.line === undefined ? step : closeLine(dropAnswer(step), answer.line)
  return fill(put(settled, { isCalleeSpeaking: true }), scene)
}

/** Cut before anything looks for words in it: a service may return any amount of text. */
const clean = (text: string): string =>
  text
    .slice(0, longestTurn)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()

export const calleeTurn = (step: Step, scene: Scene, text: string): Step => {
  const { phase } = step.state
  const words = clean(text)
  if (phase === "live") return words === "" ? nothingSaid(put(step, { isCalleeSpeaking: false }), scene) : spoken(step, scene, words)
  if (words === "" || (phase !== "delayed" && phase !== "ending")) return step
  // Said before the agent begins, or during its goodbye: recorded, but not answered.
  const known = put(personHeard(step, scene, words), {
    hasCalleeSpoken: true,
    history: withEntries(step.state.history, userEntry(words))
  })
  if (!isOptOut(words)) return known
  return phase === "ending" ? optedOut(known) : optOut(silent(begin(known, scene)), scene)
}

const silent = (step: Step): Step => stopSpeaking(dropAnswer(step))

/** It was only noise. If it cut off an answer, or one is still owed, the model is asked again. */
const nothingSaid = (step: Step, scene: Scene): Step => {
  const { answer, batch, history } = step.state
  return answer === undefined && batch === undefined && isOwed(history) ? answerAgain(step, scene) : step
}

const spoken = (step: Step, scene: Scene, text: string): Step => {
  const turns = step.state.turns + 1
  const heard = put(step, { isCalleeSpeaking: false, hasCalleeSpoken: true, turns, asks: 0, idleChecks: 0 })
  const { screening } = step.state
  const mayBeMachine = scene.plan.settings.onMachine !== undefined && (turns <= firstTurns || screening !== undefined)
  const far = mayBeMachine ? farEndOf(text, { isScreened: screening === "waiting", person: step.state.person }) : undefined
  const known = far === undefined ? personHeard(heard, scene, text) : heard
  const screened = whileScreened(known, scene, far !== undefined && far !== "machine")
  if (far !== "machine" && screened !== undefined) return screened
  const entry = userEntry(text)
  if (far === "machine" || (far === "screening" && screening === undefined)) {
    const judged = machineHeard(withEntry(known, entry), scene, far)
    // An agent that continues with machines answers them.
    return far === "screening" || judged.state.phase !== "live" ? judged : reply(judged, scene)
  }
  const told = withEntry(known, entry)
  if (isOptOut(text)) return leave(told, scene)
  return reply(far === "menu" ? machineHeard(told, scene, far) : told, scene)
}

/** Remembers that these are a person's words, where machines are looked for. */
const personHeard = (step: Step, { plan }: Scene, text: string): Step => {
  const found = plan.settings.onMachine === undefined ? undefined : personIn(text)
  const { person, verdict = "unknown" } = step.state
  if (found === undefined || person === "talk") return step
  return put(step, { person: found, verdict: verdict === "unknown" ? "human" : verdict })
}

/** While tools run, their results come first, or the history would not be valid. */
const withEntry = (step: Step, entry: Entry): Step => {
  const { batch, history, unanswered } = step.state
  return batch === undefined
    ? put(step, { history: withEntries(history, entry) })
    : put(step, { unanswered: [...unanswered, entry].slice(-mostUnanswered) })
}

/** The callee cannot interrupt a goodbye. One that could not begin while the callee spoke is not said yet. */
const isLeaving = (step: Step, scene: Scene): boolean => {
  const { answer, batch, lines } = step.state
  if (answer?.end !== undefined) return true
  return nodeOf(scene, step.state).type === "endCall" && (answer !== undefined || batch !== undefined || lines.length > 0)
}

const leave = (step: Step, scene: Scene): Step => (isLeaving(step, scene) ? optedOut(step) : optOut(silent(step), scene))

/** Answers what was said, unless the callee spoke during a line that they have to hear first. */
const reply = (step: Step, scene: Scene): Step => {
  if (isLeaving(step, scene) || isDeaf(step)) return step
  return step.state.batch === undefined ? ask(silent(step), scene, "turn") : cancelControl(stopSpeaking(step), scene)
}

/** At a node that only asks for a choice, the first key is the answer. */
const isMenu = (step: Step, scene: Scene): boolean =>
  nodeOf(scene, step.state).extraction?.variables.every(({ type }) => type === "boolean") ?? true

export const keyPressed = (step: Step, scene: Scene, digit: string): Step => {
  const { keys, phase } = step.state
  const pressed = withKey(keys, digit)
  // Without a model to answer it, a key is only on record.
  if (phase !== "live" || pressed === keys || isLeaving(step, scene) || !scene.plan.canHear) return step
  const known = put(step, { keys: pressed, idleChecks: 0 })
  if (isDeaf(known)) return known
  const isWhole = digit === "#" || isMenu(known, scene)
  return isWhole ? keysDone(known, scene) : silent(known)
}

/** The keys pressed so far are the callee's answer. */
export const keysDone = (step: Step, scene: Scene): Step => {
  const { keys } = step.state
  const text = keys.length > 1 ? keys.replace(/#$/, "") : keys
  const answered = put(step, { keys: "", person: "talk", turns: step.state.turns + 1, asks: 0, idleChecks: 0, isCalleeSpeaking: false })
  return whileScreened(answered, scene, true) ?? reply(withEntry(answered, userEntry(text, true)), scene)
}

/** The first time, the agent asks whether the callee is still there; the second time, it says goodbye. */
export const calleeIdle = (step: Step, scene: Scene): Step =>
  step.state.idleChecks === 0
    ? ask(put(step, { idleChecks: 1, asks: 0 }), scene, "check_in")
    : sayFarewell(step, scene, endFor("user_idle_max_duration_exceeded"))
