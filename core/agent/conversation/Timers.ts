/** The timers follow from the state: every wait has one, so that no call stays silent or open because something did not arrive. */
import type { ConversationAction, ConversationState, Line, Scene, Step, TimerName } from "./ConversationState.ts"
import { isDeaf } from "./Speech.ts"

/** Half a second before a silence gets awkward. */
const fillerMillis = 2500
const answerMillis = 6000
const toolSlackMillis = 2000
/** For slow speech, plus buffered audio. */
const perCharacterMillis = 150
const speechSlackMillis = 10_000
const longestTurnMillis = 60_000
export const betweenKeysMillis = 1500
const screeningMillis = 30_000
const messageMillis = 90_000
const concludeMillis = 30_000

interface Wanted {
  /** If the key changes, the timer starts over. */
  readonly key: string
  readonly afterMillis: number
}
type Timers = Partial<Record<TimerName, Wanted>>

const speechOf = (line: Line): Wanted => ({
  key: `${line.id} ${line.isClosed}`,
  afterMillis: speechSlackMillis + line.characters * perCharacterMillis
})

const wantedIn = (step: Step, scene: Scene): Timers => {
  const { state } = step
  const { settings } = scene.plan
  const duration = { duration: { key: "", afterMillis: settings.maxCallMillis } }
  const [line] = state.lines
  const speech = line?.isClosed === true ? { speech: speechOf(line) } : {}
  switch (state.phase) {
    case "new":
    case "over":
      return {}
    case "delayed":
      return { ...duration, delay: { key: "", afterMillis: scene.plan.graph.start.delayMillis } }
    case "message":
      return { ...duration, ...speech, ...(line === undefined ? { message: { key: "", afterMillis: messageMillis } } : {}) }
    case "ending":
      return { ...duration, ...speech }
    case "concluding":
      return { conclude: { key: "", afterMillis: concludeMillis } }
    case "live":
      return { ...duration, ...speech, ...(scene.plan.canHear ? waits(step, settings.idleMillis) : {}) }
  }
}

const waits = (step: Step, idleMillis: number): Timers => {
  const { answer, batch, isCalleeSpeaking, keys, lines, screening, waitedMillis } = step.state
  const isBusy = answer !== undefined || batch !== undefined
  // The callee hears ringing, or music.
  const isTransferring =
    batch !== undefined && batch.held === undefined && batch.calls.some(({ isControl, result }) => isControl && result === undefined)
  const isSilent = lines.length === 0 && !isCalleeSpeaking
  const isWaitingForTools = batch !== undefined && batch.timeoutMillis > 0
  const isIdle = isSilent && !isBusy && keys === "" && screening !== "waiting"
  return {
    ...(answer === undefined ? {} : { answer: { key: `${answer.generation} ${answer.seen}`, afterMillis: answerMillis } }),
    ...(isWaitingForTools ? { tools: { key: String(batch.id), afterMillis: batch.timeoutMillis + toolSlackMillis } } : {}),
    ...(isSilent && isBusy && !isTransferring ? { filler: { key: "", afterMillis: Math.max(0, fillerMillis - waitedMillis) } } : {}),
    ...(isIdle ? { idle: { key: "", afterMillis: idleMillis } } : {}),
    ...(isCalleeSpeaking ? { turn: { key: "", afterMillis: longestTurnMillis } } : {}),
    ...(keys !== "" && !isDeaf(step) ? { keys: { key: keys, afterMillis: betweenKeysMillis } } : {}),
    ...(screening === "waiting" ? { screening: { key: "", afterMillis: screeningMillis } } : {})
  }
}

const names: ReadonlyArray<TimerName> = [
  "answer",
  "conclude",
  "delay",
  "duration",
  "filler",
  "idle",
  "keys",
  "message",
  "screening",
  "speech",
  "tools",
  "turn"
]

/** Sets the timers that the state needs, and clears the others. */
export const armed = (step: Step, scene: Scene): Step => {
  const wanted = wantedIn(step, scene)
  let { next } = step.state
  const timers: Partial<Record<TimerName, { readonly id: number; readonly key: string }>> = {}
  const actions: Array<ConversationAction> = []
  for (const name of names) {
    const want = wanted[name]
    const has = step.state.timers[name]
    if (want === undefined) {
      if (has !== undefined) actions.push({ _tag: "ClearTimer", timer: name })
    } else if (has?.key === want.key) timers[name] = has
    else {
      timers[name] = { id: next, key: want.key }
      actions.push({ _tag: "SetTimer", timer: name, id: next++, afterMillis: want.afterMillis })
    }
  }
  // Before the other actions, because nothing comes after a conclusion.
  return { state: { ...step.state, timers, next }, actions: [...actions, ...step.actions] }
}

/** Undefined for a timer that was cleared or replaced. */
export const timerOf = ({ timers }: ConversationState, id: number): TimerName | undefined => names.find((name) => timers[name]?.id === id)
