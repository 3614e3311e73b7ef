/** Lists the deliveries of a call's webhook nodes, and replays those that were dead-lettered. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { webhookNodeOf } from "#core/agent/WebhookNode.ts"
import type { AgentId, OrganizationId, RunId } from "#core/Id.ts"
import { isUuid } from "#core/Uuid.ts"
import { RunNotFound } from "#core/run/Run.ts"
import { type NodeWebhook, type NodeWebhookId, NodeWebhookNotDead, NodeWebhookNotFound } from "./NodeWebhook.ts"
import { Sealer } from "#core/Sealer.ts"
import * as store from "./NodeWebhookStore.ts"

export class NodeWebhooks extends Context.Service<
  NodeWebhooks,
  {
    /** In the order of the nodes. Empty until the call is over. */
    readonly list: (
      organizationId: OrganizationId,
      agentId: AgentId,
      runId: RunId
    ) => Effect.Effect<ReadonlyArray<NodeWebhook>, RunNotFound>
    readonly replay: (
      organizationId: OrganizationId,
      agentId: AgentId,
      runId: RunId,
      id: NodeWebhookId
    ) => Effect.Effect<void, RunNotFound | NodeWebhookNotFound | NodeWebhookNotDead>
  }
>()("core/webhook/NodeWebhooks") {
  static readonly layer = Layer.effect(
    NodeWebhooks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      const nodesOf = Effect.fnUntraced(function* (organizationId: OrganizationId, agentId: AgentId, runId: RunId) {
        const nodes = yield* Effect.provideService(Effect.orDie(store.nodesOfRun(sql, organizationId, agentId, runId)), Sealer, sealer)
        if (nodes === undefined) return yield* new RunNotFound({ id: runId })
        return nodes.flatMap((node) => webhookNodeOf(node) ?? [])
      })

      return NodeWebhooks.of({
        list: Effect.fn("NodeWebhooks.list")(function* (organizationId, agentId, runId) {
          const nodes = yield* nodesOf(organizationId, agentId, runId)
          const rows = yield* Effect.orDie(store.list(sql, organizationId, runId))
          const rowOf = new Map(rows.map((row) => [row.nodeId, row]))
          return nodes.flatMap(({ id, method, name, url }) => {
            const row = rowOf.get(id)
            return row === undefined ? [] : [{ ...row, method, name, url }]
          })
        }),
        replay: Effect.fn("NodeWebhooks.replay")(function* (organizationId, agentId, runId, id) {
          yield* nodesOf(organizationId, agentId, runId)
          if (!isUuid(id)) return yield* new NodeWebhookNotFound({ id })
          if (yield* Effect.orDie(store.replay(sql, organizationId, runId, id))) return
          const state = yield* Effect.orDie(store.stateOf(sql, organizationId, runId, id))
          return yield* state === undefined ? new NodeWebhookNotFound({ id }) : new NodeWebhookNotDead({ state })
        })
      })
    })
  )
}
