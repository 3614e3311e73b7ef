/** The voice agents of an organization, and what can be done to one. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId } from "../Id.ts"
import { Signals } from "../Signals.ts"
import { type Agent, AgentDefinitionRefused, AgentNotFound, type AgentStatus, type AgentSummary, type JsonObject } from "./Agent.ts"
import * as Graph from "./AgentGraph.ts"
import * as store from "./AgentStore.ts"

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export interface NewAgent {
  readonly name: string
  readonly definition: JsonObject
  readonly configurations?: JsonObject | undefined
  readonly templateContextVariables?: JsonObject | undefined
}

/** What is left out stays as it is. Each of `configurations` and `templateContextVariables` is replaced as a whole. */
export interface AgentChanges {
  readonly name?: string | undefined
  readonly definition?: JsonObject | undefined
  readonly configurations?: JsonObject | undefined
  readonly templateContextVariables?: JsonObject | undefined
}

export class Agents extends Context.Service<
  Agents,
  {
    /** With version 1 published. */
    readonly create: (organizationId: OrganizationId, agent: NewAgent) => Effect.Effect<Agent, AgentDefinitionRefused>
    /** All of them unless `statuses` says which; newest last. */
    readonly list: (organizationId: OrganizationId, statuses?: ReadonlyArray<AgentStatus>) => Effect.Effect<ReadonlyArray<AgentSummary>>
    readonly get: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<Agent, AgentNotFound>
    /** As much as starting a call takes. */
    readonly getByUuid: (
      organizationId: OrganizationId,
      workflowUuid: string
    ) => Effect.Effect<Pick<Agent, "id" | "name" | "status">, AgentNotFound>
    /** A change of anything but the name makes a new version, and that one current. */
    readonly update: (
      organizationId: OrganizationId,
      id: AgentId,
      changes: AgentChanges
    ) => Effect.Effect<Agent, AgentNotFound | AgentDefinitionRefused>
    /** Archiving pauses the agent's running campaigns before it returns. */
    readonly setStatus: (organizationId: OrganizationId, id: AgentId, status: AgentStatus) => Effect.Effect<Agent, AgentNotFound>
  }
>()("core/agent/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const get = Effect.fnUntraced(function* (organizationId: OrganizationId, id: AgentId) {
        const agent = yield* Effect.orDie(store.find(sql, organizationId, id))
        return agent ?? (yield* new AgentNotFound({ id }))
      })

      return Agents.of({
        create: Effect.fn("Agents.create")(function* (organizationId, agent) {
          yield* checked(agent.definition)
          return yield* Effect.flatMap(create(sql, organizationId, agent), (id) => Effect.orDie(get(organizationId, id)))
        }),
        list: Effect.fn("Agents.list")((organizationId, statuses = ["active", "archived"]) =>
          Effect.orDie(store.list(sql, organizationId, statuses))
        ),
        get: Effect.fn("Agents.get")(get),
        getByUuid: Effect.fn("Agents.getByUuid")(function* (organizationId, workflowUuid) {
          const agent = uuid.test(workflowUuid) ? yield* Effect.orDie(store.findByUuid(sql, organizationId, workflowUuid)) : undefined
          return agent ?? (yield* new AgentNotFound({ id: workflowUuid }))
        }),
        update: Effect.fn("Agents.update")(function* (organizationId, id, changes) {
          if (changes.definition !== undefined) yield* checked(changes.definition)
          yield* update(sql, organizationId, id, changes)
          return yield* get(organizationId, id)
        }),
        setStatus: Effect.fn("Agents.setStatus")(function* (organizationId, id, status) {
          // A client that goes away must not leave permits behind.
          yield* Effect.uninterruptible(setStatus(sql, signals, { organizationId, id, status }))
          return yield* get(organizationId, id)
        })
      })
    })
  )
}

type Sql = SqlClient.SqlClient

const checked = (definition: JsonObject) => {
  const problems = Graph.check(definition)
  return problems.length === 0 ? Effect.void : Effect.fail(new AgentDefinitionRefused({ problems }))
}

const create = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, agent: NewAgent) {
    const [row] = yield* store.insert(sql, organizationId, agent.name)
    if (row === undefined) return yield* Effect.die("An inserted agent was not returned")
    yield* store.publish(sql, organizationId, row.id, agent)
    return row.id
  },
  (create, sql) => Effect.orDie(sql.withTransaction(create))
)

const update = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, id: AgentId, changes: AgentChanges) {
    const before = yield* store.lock(sql, organizationId, id)
    if (before === undefined) return yield* new AgentNotFound({ id })
    const { configurations, definition, name, templateContextVariables } = changes
    if (name !== undefined) yield* store.rename(sql, organizationId, id, name)
    if (definition !== undefined || configurations !== undefined || templateContextVariables !== undefined) {
      yield* store.publish(sql, organizationId, id, changes)
    }
  },
  (update, sql) => Effect.catchTag(sql.withTransaction(update), "SqlError", Effect.die)
)

const setStatus = Effect.fnUntraced(function* (
  sql: Sql,
  signals: Signals["Service"],
  change: { readonly organizationId: OrganizationId; readonly id: AgentId; readonly status: AgentStatus }
) {
  const { id, organizationId, status } = change
  const paused = yield* Effect.gen(function* () {
    if (!(yield* store.setStatus(sql, organizationId, id, status))) return yield* new AgentNotFound({ id })
    return status === "archived" ? yield* store.pauseCampaigns(sql, organizationId, id) : []
  }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
  yield* Effect.forEach(paused, signals.campaignStopped, { discard: true, concurrency: "unbounded" })
})
