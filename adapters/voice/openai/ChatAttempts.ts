/** One request in the forms in which its server is asked: if it refuses one, another may be what it wants. */
import type { ModelError, ModelRequest } from "#core/model/LanguageModel.ts"
import { parse } from "#adapters/shared/Json.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import { Answer } from "#adapters/voice/shared/Answer.ts"
import type { Asking } from "#adapters/voice/shared/AnswerStream.ts"
import { refusedReply } from "#adapters/voice/shared/modelErrors.ts"
import { chatPiece } from "./ChatPiece.ts"
import { type ChatSettings, chatBody } from "./ChatRequest.ts"
import { type Habits, remediesFor, type ServerHabits } from "./ServerHabits.ts"

/** How often a request is changed. The callee is waiting. */
const mostChanges = 4

export const askChat = (settings: ChatSettings, request: ModelRequest, known: ServerHabits): Asking => {
  const { apiKey, baseUrl, headers, model, startsThinking } = settings
  const server = `${baseUrl.href} ${model}`
  const path = pathUnder(baseUrl, "/chat/completions")
  const attemptWith = (habits: Habits) => {
    const body = JSON.stringify(chatBody(settings, request, habits))
    const thinking = startsThinking ? "always" : habits.startsThinking ? "perhaps" : "never"
    return { habits, path, headers, body, answer: new Answer({ request, thinking, read: (chunk) => chatPiece(chunk, body + apiKey) }) }
  }
  const first = known.of(server)
  let current = attemptWith(first)
  let error: ModelError | undefined
  let lastWords: string | undefined
  const bodies = new Set([current.body])
  const candidates: Array<Habits> = []

  const next = () => {
    for (let habits = candidates.shift(); habits !== undefined && bodies.size <= mostChanges; habits = candidates.shift()) {
      const attempt = attemptWith(habits)
      if (!bodies.has(attempt.body)) return attempt
    }
    return undefined
  }
  return {
    current: () => current,
    refused: (refusal) => {
      error ??= refusedReply(refusal, parse(refusal.text), current.body + apiKey)
      // The same words again: the change was not what the server wanted.
      if (refusal.text !== lastWords) candidates.unshift(...remediesFor(refusal, current.habits))
      lastWords = refusal.text
      const attempt = next()
      if (attempt === undefined) return error
      current = attempt
      bodies.add(attempt.body)
      return undefined
    },
    accepted: () => {
      const { startsThinking: _, ...habits } = current.habits
      if (current.habits !== first) known.learn(server, habits)
    },
    progressed: () => {
      if (current.answer.startsThinking && !current.habits.startsThinking) known.learn(server, { startsThinking: true })
    },
    ended: ({ error }) => {
      // The server may have ignored a choice that it does not know.
      if (error !== undefined && request.purpose === "extract" && current.habits.toolChoice === "named")
        known.learn(server, { toolChoice: "required" })
    }
  }
}
