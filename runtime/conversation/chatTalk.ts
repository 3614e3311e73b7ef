/** Answers the messages of text chats: each answer runs a conversation that continues where the previous one stopped. */
import { Clock, Effect, Layer, Stream } from "effect"
import type { ConversationState } from "#core/agent/conversation/ConversationState.ts"
import { atRest } from "#core/agent/conversation/StoredState.ts"
import { type ChatAnswer, type ChatPrompt, ChatTalk } from "#core/chat/ChatTalk.ts"
import { ChatAnswerFailed, type ChatEvent, type ChatUsage } from "#core/chat/TextChat.ts"
import { extractionFailure, transitionOf } from "#core/conversation/ConversationRecord.ts"
import type { LanguageModel, ModelError } from "#core/model/LanguageModel.ts"
import { serviceKey, tokensOf } from "#core/run/serviceUsage.ts"
import { HttpTools } from "./HttpTools.ts"
import { TokenCount } from "./TokenCount.ts"
import { type ConversationActor, type ConversationFact, makeConversation, type Speaker } from "./ConversationActor.ts"

/** Shorter than the gateway waits for the answer. */
const PATIENCE = "25 seconds"

const failedBecause = (reason: string) => new ChatAnswerFailed({ reason })
const modelFailed = ({ message, reason }: ModelError) => failedBecause(`the language model failed (${reason}): ${message}`)
const tooSlow = failedBecause("the language model did not answer in time")
const useless = failedBecause("the language model gave no usable answer")

/** Collects whole lines, in the order in which they begin, and counts each as heard. */
const makeReader = (heard: (line: number) => void) => {
  const lines = new Map<number, string>()
  const speaker: Speaker = {
    say: (line, text, { isLast }) => {
      lines.set(line, (lines.get(line) ?? "") + text)
      if (isLast) heard(line)
    },
    play: (line, recording) => {
      lines.set(line, `[recording ${recording._tag === "Id" ? recording.id : recording.recordingId}]`)
      heard(line)
    },
    stop: () => {}
  }
  const text = () =>
    [...lines.values()]
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join("\n\n")
  return { speaker, text }
}

const iso = (millis: number): string => new Date(millis).toISOString()

const eventOf = (fact: ConversationFact): ReadonlyArray<ChatEvent> => {
  if (fact._tag !== "Noted") return []
  const { at, note } = fact
  switch (note._tag) {
    case "NodeEntered":
      return [{ type: "node_transition", created_at: iso(at), payload: transitionOf(note) }]
    case "ToolStarted": {
      const payload = { function_name: note.call.name, tool_call_id: note.call.id, arguments: note.call.arguments }
      return [{ type: "tool_call_started", created_at: iso(at), payload }]
    }
    case "ToolEnded": {
      const payload = { function_name: note.call.name, tool_call_id: note.call.id, result: note.result }
      return [{ type: "tool_call_result", created_at: iso(at), payload }]
    }
    case "ExtractionFailed":
      return [{ type: "extraction_failed", created_at: iso(at), payload: extractionFailure(note.node) }]
    case "GreetingIgnored":
    case "ModelTrouble":
    case "ToolUnreadable":
    case "VariableRefused":
      return []
  }
}

/** In a call the agent would apologize, and give up the second time. Someone who tries it out wants to know why, and may write again. */
const isGivenUp = (before: ConversationState, after: ConversationState): boolean => after.failures > before.failures

const answer = Effect.fnUntraced(function* (tools: HttpTools["Service"], { event, model: open, organizationId, plan, state }: ChatPrompt) {
  const model = yield* Effect.mapError(open, modelFailed)
  const count = new TokenCount()
  let failure: ModelError | undefined
  const answered: LanguageModel["answer"] = (request) =>
    Stream.tapError(count.counted(model, request), (error) => Effect.sync(() => void (failure = error)))
  const events: Array<ChatEvent> = []
  let isSilent = false
  const { speaker, text } = makeReader((line) => actor.tell({ _tag: "LineSpoken", line }))
  const actor: ConversationActor = yield* makeConversation(
    plan,
    {
      model: { ...model, answer: answered },
      speaker,
      runTool: (request) => tools.run(organizationId, request),
      sendDigits: () => Effect.succeed({ _tag: "Sent" }),
      transfer: () => Effect.succeed({ _tag: "Failed", reason: "Nobody is on the line in a text chat, so nobody can be transferred." }),
      write: (fact) =>
        Effect.sync(() => {
          events.push(...eventOf(fact))
          if (fact._tag === "Noted" && fact.note._tag === "ModelTrouble") isSilent = fact.note.trouble === "silent"
        }),
      hangUp: () => {}
    },
    state
  )
  actor.tell(event)
  const conclusion = yield* Effect.raceFirst(Effect.as(actor.quiet, undefined), actor.conclusion)
  const after = actor.state()
  if (isGivenUp(state, after)) {
    return yield* isSilent ? tooSlow : failure === undefined ? useless : modelFailed(failure)
  }
  if (conclusion !== undefined) {
    const at = iso(yield* Clock.currentTimeMillis)
    events.push({ type: "session_end", created_at: at, payload: { reason: conclusion.disposition } })
  }
  const usage: ChatUsage = { [serviceKey(model.provider, model.model)]: tokensOf(count.used()) }
  return { state: atRest(after), text: text(), events, usage } satisfies ChatAnswer
})

export const layer = Layer.effect(
  ChatTalk,
  HttpTools.useSync((tools) => ({
    answer: (prompt) =>
      Effect.scoped(answer(tools, prompt)).pipe(Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.fail(tooSlow) }))
  }))
)
