/** The model's text is spoken piece by piece; its tool calls run once its answer is complete. */
import type { JsonObject } from "#core/Json.ts"
import { jsonSize } from "#core/jsonSize.ts"
import type { ModelPart } from "#core/model/LanguageModel.ts"
import { ask, failed, type Trouble } from "./Asking.ts"
import { type Answer, nodeOf, put, purposeOf, type Scene, type Step } from "./ConversationState.ts"
import { dropAnswer, endAfterLines, endFor } from "./Ending.ts"
import { completed } from "./History.ts"
import { closeLine, sayPiece } from "./Speech.ts"
import { startCalls } from "./ToolCalls.ts"

/** Nobody would listen to more. */
const longestAnswer = 4000
const mostCalls = 8
const longestArguments = 8192
const isHuge = (given: JsonObject): boolean => jsonSize(given, longestArguments) > longestArguments

export const answerSaid = (step: Step, scene: Scene, answer: Answer, part: ModelPart): Step => {
  const seen = { ...answer, pieces: answer.pieces + 1 }
  switch (part._tag) {
    case "Text": {
      if (answer.line === undefined && part.text.trim() === "") return put(step, { answer: seen })
      const said = sayPiece(step, scene, seen, part.text.slice(0, longestAnswer - answer.characters))
      const { answer: now } = said.state
      return now !== undefined && now.characters >= longestAnswer ? finished(dropAnswer(said), scene, { ...now, calls: [] }) : said
    }
    case "ToolCall": {
      const { calls, request } = answer
      const isRefused =
        request.tools.length === 0 ||
        calls.length >= mostCalls ||
        calls.some(({ id }) => id === part.call.id) ||
        isHuge(part.call.arguments)
      return put(step, { answer: isRefused ? seen : { ...seen, calls: [...calls, part.call] } })
    }
    case "Finished":
      return finished(step, scene, { ...answer, members: part.members })
  }
}

const finished = (step: Step, scene: Scene, answer: Answer): Step => {
  if (answer.line === undefined && answer.calls.length === 0) return failed(step, scene, answer, { trouble: "empty" }, true)
  const closed = closeLine(step, answer.line)
  const settled = put(closed, {
    answer: undefined,
    failures: 0,
    history: answer.members === undefined ? closed.state.history : completed(closed.state.history, answer.line, { ...answer, calls: [] })
  })
  if (answer.end !== undefined) return endAfterLines(settled, scene, answer.end)
  if (answer.calls.length > 0) return startCalls(put(settled, { misunderstood: 0 }), scene, answer)
  if (nodeOf(scene, step.state).type === "endCall") return endAfterLines(settled, scene, endFor("user_qualified"))
  const isReply = purposeOf(answer) === "turn" && answer.request.messages.at(-1)?._tag === "User"
  return put(settled, { misunderstood: step.state.misunderstood + (isReply ? 1 : 0) })
}

/** Text that was already spoken counts as the answer, because it cannot be said again. Tool calls are dropped. */
export const answerFailed = (step: Step, scene: Scene, answer: Answer, trouble: Trouble, isRetryable: boolean): Step =>
  answer.line === undefined
    ? failed(step, scene, answer, trouble, isRetryable)
    : finished(trouble.trouble === "silent" ? dropAnswer(step) : step, scene, { ...answer, calls: [] })

/** The time for the next piece has passed. If one has arrived meanwhile, the wait is extended. */
export const answerDue = (step: Step, scene: Scene, answer: Answer): Step =>
  answer.pieces > answer.seen
    ? put(step, { answer: { ...answer, seen: answer.pieces } })
    : answerFailed(step, scene, answer, { trouble: "silent" }, true)

/** The callee or a tool waits for an answer that is not being generated. */
export const answerAgain = (step: Step, scene: Scene): Step => ask(step, scene, "turn")
