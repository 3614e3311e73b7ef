/** Text chats in progress: starting them, writing to them, and taking turns back. */
import { Effect } from "effect"
import { AgentNotFound } from "#core/agent/Agent.ts"
import { fresh } from "#core/agent/conversation/ConversationState.ts"
import { gatheredOf } from "#core/agent/conversation/Gathered.ts"
import { restored, stored } from "#core/agent/conversation/StoredState.ts"
import { findAgent } from "#core/call/CallStore.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { jsonSize } from "#core/jsonSize.ts"
import { QuotaFull } from "#core/organization/Quota.ts"
import * as quotas from "#core/organization/QuotaStore.ts"
import { reservedNames } from "#core/run/RunRecord.ts"
import { timeZoneOf } from "#core/run/RunStore.ts"
import { newRowUuid } from "#core/Sealer.ts"
import { idleSecondsOf } from "./chatPlan.ts"
import type { ChatAnswer } from "./ChatTalk.ts"
import { currentTurns, keptTurns, logsOf, usedMore } from "./ChatTurns.ts"
import {
  alone,
  type ChatWork,
  type Expected,
  found,
  inTransaction,
  isExpired,
  type NewMessage,
  type NewTextChat,
  nowMillis,
  planOf,
  turnIdOf,
  complete
} from "./ChatWork.ts"
import { expire } from "./endingChats.ts"
import { type ChatTurn, ChatTurnNotFound, type PlacedTurn, type TextChat, TextChatEnded, TextChatFull } from "./TextChat.ts"
import * as store from "./TextChatStore.ts"
import type { ChatOf } from "./TextChatStore.ts"

const iso = (millis: number): string => new Date(millis).toISOString()

/** The tester's values override the agent's template variables; only the engine writes reserved names. */
const contextOf = (variables: JsonObject, given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries({ ...variables, ...given }).filter(([name]) => !reservedNames.includes(name)))

const turnOf = (
  answer: ChatAnswer,
  { askedAt, id, now, text }: { readonly id: string; readonly text: string | undefined; readonly askedAt: number; readonly now: number }
): ChatTurn => ({
  id,
  created_at: iso(askedAt),
  user_message: text === undefined ? null : { text, created_at: iso(askedAt) },
  assistant_message: answer.text === "" ? null : { text: answer.text, created_at: iso(now) },
  events: answer.events,
  usage: { llm: answer.usage },
  node_id: answer.state.nodeId,
  gathered_context: gatheredOf(answer.state)
})

const placed = (place: number, turn: ChatTurn): PlacedTurn => ({ place, turn, discardedAt: null, rewoundFrom: null })

export const begin = Effect.fnUntraced(function* (work: ChatWork, organizationId: OrganizationId, chat: NewTextChat) {
  const { agentId, requestId } = chat
  const earlier = requestId === undefined ? undefined : yield* Effect.orDie(store.ofRequest(work.sql, organizationId, agentId, requestId))
  const runId = earlier ?? (yield* work.places.answering(organizationId, begun(work, organizationId, chat)))
  // Just made, or made by the same request.
  return yield* Effect.orDie(found(work, { organizationId, agentId, runId }))
})

const begun = Effect.fnUntraced(function* (work: ChatWork, organizationId: OrganizationId, chat: NewTextChat) {
  const { agents, chosen, sql, talk, versions } = work
  const agent = yield* Effect.orDie(findAgent(sql, organizationId, chat.agentId))
  if (agent === undefined) return yield* new AgentNotFound({ id: chat.agentId })
  yield* Effect.catchTag(quotas.hasRoom(sql, organizationId, "text_chats"), "SqlError", Effect.die)
  const version = yield* versions.get(yield* agents.calledVersion(organizationId, agent, true))
  const timeZone = yield* Effect.orDie(timeZoneOf(sql, organizationId))
  const plan = yield* planOf(work, organizationId, version, timeZone)
  const initialContext = contextOf(version.templateContextVariables, chat.initialContext)
  const { model } = yield* chosen.chosenFor(organizationId, version.configurations)
  const askedAt = yield* nowMillis
  const answer = yield* talk.answer({
    organizationId,
    plan,
    model,
    state: fresh(plan),
    event: { _tag: "Started", context: initialContext }
  })
  const now = yield* nowMillis
  const uuid = chat.requestId ?? (yield* Effect.orDie(newRowUuid(sql)))
  const turn = turnOf(answer, { id: turnIdOf(uuid), text: undefined, askedAt, now })
  const made = Effect.gen(function* () {
    const runId = yield* store.begin(sql, {
      organizationId,
      agentId: chat.agentId,
      definitionId: version.definitionId,
      requestId: chat.requestId,
      name: chat.name ?? `WR-TEXT-${uuid.slice(-6).toUpperCase()}`,
      initialContext,
      annotations: chat.annotations,
      context: answer.state.context,
      timeZone,
      idleSeconds: idleSecondsOf(version.configurations),
      now,
      ...recordOf(answer, [placed(1, turn)], null)
    })
    yield* quotas.within(sql, organizationId, "text_chats", 1)
    yield* store.addTurn(sql, organizationId, runId, { place: 1, turn, state: stored(answer.state) })
    if (answer.state.phase === "over") yield* complete(work, organizationId, runId, now)
    return runId
  })
  return yield* inTransaction(work, made)
})

const recordOf = (answer: ChatAnswer, turns: ReadonlyArray<PlacedTurn>, usedBefore: JsonObject | null): store.Recorded => ({
  gathered: gatheredOf(answer.state),
  logs: { ...logsOf(turns) },
  usage: usedMore(usedBefore, answer.usage)
})

export const say = (work: ChatWork, of: ChatOf, message: NewMessage) => {
  const { requestId } = message
  // The request was answered before, and its answer lost.
  const isDone = ({ turns }: TextChat) => requestId !== undefined && turns.some(({ turn }) => turn.id === turnIdOf(requestId))
  return work.places.answering(
    of.organizationId,
    alone(work, of, message, (chat) => said(work, of, chat, message), isDone)
  )
}

/** In characters. Whoever writes or reads is shown all turns, and the longest turn is as much again. */
const largestChat = 1_000_000

const said = Effect.fnUntraced(function* (work: ChatWork, of: ChatOf, chat: TextChat, { requestId, text }: NewMessage) {
  const { chosen, sql, talk, versions } = work
  const { organizationId } = of
  yield* stillOpen(work, of, chat)
  const limit = yield* Effect.orDie(quotas.limitOf(sql, organizationId, "text_chat_turns"))
  if (chat.turns.length >= limit) return yield* new QuotaFull({ quota: "text_chat_turns", limit, used: chat.turns.length, wanted: 1 })
  if (jsonSize(chat.turns, largestChat) > largestChat) return yield* new TextChatFull()
  const version = yield* versions.get(chat.definitionId)
  const plan = yield* planOf(work, organizationId, version, chat.timeZone)
  const state = chat.state === null ? undefined : restored(plan, chat.context, chat.state)
  if (state === undefined) return yield* new TextChatEnded()
  const { model } = yield* chosen.chosenFor(organizationId, version.configurations)
  const askedAt = yield* nowMillis
  const answer = yield* talk.answer({ organizationId, plan, model, state, event: { _tag: "CalleeTurn", text } })
  const now = yield* nowMillis
  const id = turnIdOf(requestId ?? (yield* Effect.orDie(newRowUuid(sql))))
  const turn = turnOf(answer, { id, text, askedAt, now })
  return yield* inTransaction(work, written(work, of, chat, { answer, now, turn }))
})

/** The turn and what follows from it; false if the chat is not as it was when the message came. */
const written = Effect.fnUntraced(function* (
  work: ChatWork,
  { organizationId, runId }: ChatOf,
  chat: TextChat,
  { answer, now, turn }: { readonly answer: ChatAnswer; readonly turn: ChatTurn; readonly now: number }
) {
  const { sql } = work
  if (!(yield* store.advance(sql, chat, { organizationId, cursorTurnId: null, now }))) return false
  const before = currentTurns(chat.turns, chat.cursorTurnId)
  const last = before.at(-1)
  if (last !== undefined && chat.cursorTurnId !== null)
    yield* store.discardAfter(sql, organizationId, runId, { place: last.place, turnId: last.turn.id, now })
  const next = placed(chat.turns.length + 1, turn)
  yield* store.addTurn(sql, organizationId, runId, { place: next.place, turn, state: stored(answer.state) })
  yield* store.record(sql, organizationId, runId, recordOf(answer, [...before, next], chat.usageInfo))
  if (answer.state.phase === "over") yield* complete(work, organizationId, runId, now)
  return true
})

/** One that nobody wrote to for too long is over, whether or not it has been ended yet. */
const stillOpen = Effect.fnUntraced(function* (work: ChatWork, of: ChatOf, chat: TextChat) {
  if (chat.expiresAt === null) return yield* new TextChatEnded()
  if (!isExpired(chat, yield* nowMillis)) return
  yield* expire(work, of, chat)
  return yield* new TextChatEnded()
})

export const rewind = (work: ChatWork, of: ChatOf, to: Expected & { readonly turnId: string | null }) =>
  alone(
    work,
    of,
    to,
    (chat) => rewound(work, of, chat, to.turnId),
    () => false
  )

const rewound = Effect.fnUntraced(function* (work: ChatWork, of: ChatOf, chat: TextChat, turnId: string | null) {
  const { sql } = work
  const { organizationId, runId } = of
  yield* stillOpen(work, of, chat)
  if (turnId !== null && !keptTurns(chat.turns).some(({ turn }) => turn.id === turnId)) return yield* new ChatTurnNotFound()
  const turns = currentTurns(chat.turns, turnId)
  const now = yield* nowMillis
  const change = Effect.gen(function* () {
    if (!(yield* store.advance(sql, chat, { organizationId, cursorTurnId: turnId, now }))) return false
    const gathered = turns.at(-1)?.turn.gathered_context ?? {}
    yield* store.record(sql, organizationId, runId, { gathered, logs: { ...logsOf(turns) }, usage: chat.usageInfo ?? {} })
    return true
  })
  return yield* inTransaction(work, change)
})
