/** What changes of text chats have in common: what they work with, how a chat is found, and that only one changes it at a time. */
import { Clock, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { AgentVersion } from "#core/agent/Agent.ts"
import type { Agents } from "#core/agent/Agents.ts"
import type { AgentVersions } from "#core/agent/AgentVersions.ts"
import type { ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import { loadTools } from "#core/agent/conversation/GraphTools.ts"
import { toolUuidsIn } from "#core/agent/ToolNames.ts"
import type { AgentId, OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentServices } from "#core/model/AgentServices.ts"
import { Sealer } from "#core/Sealer.ts"
import { costOf } from "#core/usage/Cost.ts"
import type { CallPrices } from "#core/usage/ServicePrices.ts"
import type { ChatPlaces } from "./ChatPlaces.ts"
import { chatPlan } from "./chatPlan.ts"
import type { ChatTalk } from "./ChatTalk.ts"
import { RunNotTextChat, type TextChat, TextChatConflict, TextChatNotFound } from "./TextChat.ts"
import * as store from "./TextChatStore.ts"
import type { ChatOf } from "./TextChatStore.ts"

export interface ChatWork {
  readonly sql: SqlClient.SqlClient
  readonly agents: Agents["Service"]
  readonly versions: AgentVersions["Service"]
  readonly chosen: AgentServices["Service"]
  readonly talk: ChatTalk["Service"]
  readonly sealer: Sealer["Service"]
  readonly places: ChatPlaces
  readonly prices: (typeof CallPrices)["Service"]
}

export interface NewTextChat {
  readonly agentId: AgentId
  /** Undefined: a name is generated. */
  readonly name: string | undefined
  readonly initialContext: JsonObject
  readonly annotations: JsonObject
  /** Identifies a request that may be repeated. */
  readonly requestId: string | undefined
}

export interface Expected {
  /** The revision that the client has seen; undefined: whichever there is. */
  readonly expectedRevision: number | undefined
}

export interface NewMessage extends Expected {
  readonly text: string
  readonly requestId: string | undefined
}

/** The last part of the id of the request, which is random. */
export const turnIdOf = (requestId: string): string => `turn_${requestId.slice(-12)}`

export const found = Effect.fnUntraced(function* ({ sql }: ChatWork, of: ChatOf) {
  const chat = yield* Effect.orDie(store.find(sql, of))
  if (chat !== undefined) return chat
  if (yield* Effect.orDie(store.hasRun(sql, of))) return yield* new RunNotTextChat()
  return yield* new TextChatNotFound()
})

const conflict = (chat: TextChat, { expectedRevision }: Expected, isBusy: boolean) =>
  new TextChatConflict({ expected: expectedRevision ?? chat.revision, actual: chat.revision, isBusy })

/** Refuses if the chat is being changed already, or was changed since the client saw it; unless `isDone`: then the chat stays as it is. */
export const alone = <E, R>(
  work: ChatWork,
  of: ChatOf,
  expected: Expected,
  change: (chat: TextChat) => Effect.Effect<boolean, E, R>,
  isDone: (chat: TextChat) => boolean
): Effect.Effect<TextChat, E | TextChatNotFound | RunNotTextChat | TextChatConflict, R> => {
  const { expectedRevision } = expected
  const changed = Effect.gen(function* () {
    const chat = yield* found(work, of)
    if (isDone(chat)) return chat
    if (expectedRevision !== undefined && expectedRevision !== chat.revision) return yield* conflict(chat, expected, false)
    const isChanged = yield* change(chat)
    const now = yield* found(work, of)
    return isChanged ? now : yield* conflict(now, { expectedRevision: chat.revision }, false)
  })
  const busy = Effect.flatMap(found(work, of), (chat) =>
    isDone(chat) ? Effect.succeed(chat) : Effect.fail(conflict(chat, expected, true))
  )
  return work.places.alone<TextChat, E | TextChatNotFound | RunNotTextChat | TextChatConflict, R>(of, changed, busy)
}

/** The chat is over: its run shows what the language model has cost. */
export const complete = Effect.fnUntraced(function* ({ prices, sql }: ChatWork, organizationId: OrganizationId, runId: RunId, at: number) {
  const usage = yield* store.complete(sql, organizationId, runId, at)
  const cost = costOf(usage, yield* prices(organizationId))
  if (cost !== undefined) yield* store.setCost(sql, organizationId, runId, cost)
})

/** All of it, or nothing. */
export const inTransaction = <A, E, R>({ sql }: ChatWork, change: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchTag(sql.withTransaction(change), "SqlError", Effect.die)

export const isExpired = ({ expiresAt }: TextChat, now: number): boolean => expiresAt !== null && expiresAt.getTime() <= now
export const nowMillis = Clock.currentTimeMillis

export const planOf = Effect.fnUntraced(function* (
  { sealer, sql }: ChatWork,
  organizationId: OrganizationId,
  version: AgentVersion,
  timeZone: string
): Effect.fn.Return<ConversationPlan> {
  const tools = yield* Effect.provideService(loadTools(sql, organizationId, toolUuidsIn(version.definition)), Sealer, sealer)
  return chatPlan(version, tools, timeZone) ?? (yield* Effect.die(`Agent definition ${version.definitionId} has no start`))
})
