/** Asking the model, and what happens when it does not answer: one retry, then a line of the agent's own, and after two failures a polite end. */
import type { ModelPurpose } from "#core/model/LanguageModel.ts"
import { type Answer, act, type ConversationNote, type End, nodeOf, put, type Scene, type Step } from "./ConversationState.ts"
import { dropAnswer, endAfterLines, endFor } from "./Ending.ts"
import { requestFor } from "./Requests.ts"
import { say } from "./Speech.ts"

/** Stops a model that keeps calling tools, or walks in circles, while the callee says nothing. */
const mostAsks = 8
const mostFailures = 2

export type Trouble = Omit<Extract<ConversationNote, { readonly _tag: "ModelTrouble" }>, "_tag">

/** `end`: follows the answer, which is a farewell. An agent that cannot hear has nothing to answer. */
export const ask = (step: Step, scene: Scene, purpose: ModelPurpose, end?: End): Step => {
  if (!scene.plan.canHear) return step
  const { asks, next } = step.state
  const answer: Answer = {
    generation: next,
    request: requestFor(scene, step.state, purpose),
    isRetry: false,
    line: undefined,
    characters: 0,
    calls: [],
    members: undefined,
    pieces: 0,
    seen: 0,
    end
  }
  if (asks >= mostAsks) return givenUp(step, scene, answer, { trouble: "loop" })
  return asked(put(step, { asks: asks + 1 }), answer)
}

const asked = (step: Step, answer: Answer): Step => {
  const { next } = step.state
  return act(put(step, { next: next + 1, answer: { ...answer, generation: next } }), {
    _tag: "AskModel",
    generation: next,
    request: answer.request
  })
}

/** The model's answer contains nothing to say or do. Must not be called once part of it has been said. */
export const failed = (step: Step, scene: Scene, answer: Answer, trouble: Trouble, isRetryable: boolean): Step => {
  const dropped = trouble.trouble === "silent" ? dropAnswer(step) : put(step, { answer: undefined })
  if (!isRetryable || answer.isRetry) return givenUp(dropped, scene, answer, trouble)
  return asked(note(dropped, trouble), { ...answer, isRetry: true, calls: [], pieces: 0, seen: 0 })
}

const note = (step: Step, trouble: Trouble): Step => act(step, { _tag: "Note", note: { _tag: "ModelTrouble", ...trouble } })

const givenUp = (step: Step, scene: Scene, { end, request: { purpose } }: Answer, trouble: Trouble): Step => {
  const { lines } = scene.plan.settings
  const failures = step.state.failures + 1
  const counted = note(put(step, { failures }), trouble)
  const lastWords = { isInterruptible: false, isTold: true }
  if (end !== undefined) return endAfterLines(say(counted, lines.goodbye, lastWords), scene, end)
  if (nodeOf(scene, step.state).type === "endCall")
    return endAfterLines(say(counted, lines.goodbye, lastWords), scene, endFor("user_qualified"))
  if (failures >= mostFailures) return endAfterLines(say(counted, lines.apology, lastWords), scene, endFor("pipeline_error"))
  return say(counted, purpose === "check_in" ? lines.checkIn : lines.reprompt, { isInterruptible: true, isTold: true })
}

/** Says goodbye in the model's words, then ends. */
export const sayFarewell = (step: Step, scene: Scene, end: End): Step => ask(put(step, { asks: 0 }), scene, "farewell", end)
