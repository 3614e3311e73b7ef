/** Text chats that are not ended by their agent, but by the tester, or because nobody writes any more. */
import { Effect } from "effect"
import { type ConversationEvent, type ConversationState, fresh } from "#core/agent/conversation/ConversationState.ts"
import { gatheredOf } from "#core/agent/conversation/Gathered.ts"
import { restored } from "#core/agent/conversation/StoredState.ts"
import { endedAtOnce } from "./chatPlan.ts"
import { currentTurns, logsOf, usedMore } from "./ChatTurns.ts"
import { alone, type ChatWork, complete, type Expected, inTransaction, isExpired, nowMillis, planOf } from "./ChatWork.ts"
import type { ChatUsage, TextChat } from "./TextChat.ts"
import * as store from "./TextChatStore.ts"
import type { ChatOf } from "./TextChatStore.ts"

const hungUp: ConversationEvent = { _tag: "CalleeHungUp" }
const givenUp: ConversationEvent = { _tag: "EndRequested", reason: "user_idle_max_duration_exceeded" }

export const end = (work: ChatWork, of: ChatOf, expected: Expected) =>
  work.places.answering(
    of.organizationId,
    alone(
      work,
      of,
      expected,
      (chat) => ended(work, of, chat),
      ({ expiresAt }) => expiresAt === null
    )
  )

/** The plan of the chat's version, and where the conversation stands. */
const standing = Effect.fnUntraced(function* (work: ChatWork, { organizationId }: ChatOf, chat: TextChat) {
  const version = yield* work.versions.get(chat.definitionId)
  const plan = yield* planOf(work, organizationId, version, chat.timeZone)
  // Of what another version of the engine has stored, only the end is known.
  const state = (chat.state === null ? undefined : restored(plan, chat.context, chat.state)) ?? fresh(plan)
  return { plan, state, version }
})

/** The model is asked once more for what the last node wants to know, as at the end of a call. The chat ends whether or not it answers. */
const ended = Effect.fnUntraced(function* (work: ChatWork, of: ChatOf, chat: TextChat) {
  const now = yield* nowMillis
  if (isExpired(chat, now)) return yield* expire(work, of, chat)
  const { plan, state, version } = yield* standing(work, of, chat)
  const { model } = yield* work.chosen.chosenFor(of.organizationId, version.configurations)
  const last = yield* work.talk
    .answer({ organizationId: of.organizationId, plan, model, state, event: hungUp })
    .pipe(Effect.catchTag("ChatAnswerFailed", () => Effect.succeed({ state: endedAtOnce(plan, state, hungUp, now), usage: {} })))
  return yield* concluded(work, of, chat, { ...last, at: yield* nowMillis })
})

const concluded = (
  work: ChatWork,
  { organizationId, runId }: ChatOf,
  chat: TextChat,
  { at, state, usage }: { readonly state: ConversationState; readonly usage: ChatUsage; readonly at: number }
) => {
  const { sql } = work
  const change = Effect.gen(function* () {
    if (!(yield* store.advance(sql, chat, { organizationId, cursorTurnId: chat.cursorTurnId, now: at }))) return false
    yield* store.record(sql, organizationId, runId, {
      gathered: gatheredOf(state),
      logs: { ...logsOf(currentTurns(chat.turns, chat.cursorTurnId)) },
      usage: usedMore(chat.usageInfo, usage)
    })
    yield* complete(work, organizationId, runId, at)
    return true
  })
  return inTransaction(work, change)
}

/** Nobody waits for the end of a chat that nobody writes to, so no model is asked. */
export const expire = Effect.fnUntraced(function* (work: ChatWork, of: ChatOf, chat: TextChat) {
  const at = chat.expiresAt?.getTime() ?? (yield* nowMillis)
  const { plan, state } = yield* standing(work, of, chat)
  return yield* concluded(work, of, chat, { state: endedAtOnce(plan, state, givenUp, at), usage: {}, at })
})

/** A chat that cannot be ended does not hold up the others, and is tried again the next time. */
export const expireAll = (work: ChatWork): Effect.Effect<void> =>
  Effect.gen(function* () {
    const now = yield* nowMillis
    for (let after = 0; ; ) {
      const chats = yield* Effect.orDie(store.expired(work.sql, now, after))
      for (const of of chats)
        yield* Effect.catchCause(expireLater(work, of, now), (cause) => Effect.logWarning("a text chat could not be ended", cause))
      const last = chats.at(-1)
      if (last === undefined) return
      after = last.runId
    }
  })

/** A message that is being answered comes first. */
const expireLater = (work: ChatWork, of: ChatOf, now: number) =>
  alone(
    work,
    of,
    { expectedRevision: undefined },
    (chat) => expire(work, of, chat),
    (chat) => !isExpired(chat, now)
  ).pipe(Effect.catchTag("TextChatConflict", () => Effect.void))
