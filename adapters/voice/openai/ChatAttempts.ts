/** One request in the forms in which its server is asked: if it refuses one, another may be what it wants. */
import type { ModelError, ModelRequest } from "#core/model/LanguageModel.ts"
import { parse } from "#adapters/shared/Json.ts"
import { ChatAnswer } from "./ChatAnswer.ts"
import { refusedReply } from "./chatErrors.ts"
import { type ChatSettings, chatBody } from "./ChatRequest.ts"
import { type Habits, type Refusal, remediesFor, type ServerHabits } from "./ServerHabits.ts"

/** How often a request is changed. The callee is waiting. */
const mostChanges = 4

interface Attempt {
  readonly habits: Habits
  readonly body: string
  readonly answer: ChatAnswer
}

export interface ChatAttempts {
  /** The request to send now. */
  readonly current: () => Attempt
  /** The server has refused the request. Returns the error, unless there is another request to send. */
  readonly refused: (refusal: Refusal) => ModelError | undefined
  /** The server has accepted the request. */
  readonly accepted: () => void
  /** The answer has shown how it begins, or that the server takes the name of a tool for something else. */
  readonly learn: (habits: Partial<Habits>) => void
}

export const makeChatAttempts = (settings: ChatSettings, request: ModelRequest, known: ServerHabits): ChatAttempts => {
  const server = `${settings.baseUrl.href} ${settings.model}`
  const attemptWith = (habits: Habits): Attempt => {
    const body = JSON.stringify(chatBody(settings, request, habits))
    const thinking = settings.startsThinking ? "always" : habits.startsThinking ? "perhaps" : "never"
    return { habits, body, answer: new ChatAnswer({ request, sent: body + settings.apiKey, thinking }) }
  }
  const first = known.of(server)
  let current = attemptWith(first)
  let error: ModelError | undefined
  let lastWords: string | undefined
  const bodies = new Set([current.body])
  const candidates: Array<Habits> = []

  const next = (): Attempt | undefined => {
    for (let habits = candidates.shift(); habits !== undefined && bodies.size <= mostChanges; habits = candidates.shift()) {
      const attempt = attemptWith(habits)
      if (!bodies.has(attempt.body)) return attempt
    }
    return undefined
  }
  return {
    current: () => current,
    refused: (refusal) => {
      error ??= refusedReply(refusal.status, parse(refusal.text), current.body + settings.apiKey)
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
    learn: (habits) => known.learn(server, habits)
  }
}
