/** The database's view of ending calls of agents with webhook nodes; engine nodes that deliver; and a real server that receives. */
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Test } from "tap"
import type { NodeWebhook } from "#core/webhook/NodeWebhook.ts"
import { NodeWebhooks } from "#core/webhook/NodeWebhooks.ts"
import { RunId } from "#core/Id.ts"
import { PublicFiles } from "#core/file/PublicFiles.ts"
import * as events from "#runtime/events.ts"
import type { WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import { answeringServer, type Asked } from "./answeringServer.ts"
import { egress } from "./egress.ts"
import { until } from "./engine.ts"
import * as given from "./given.ts"
import { clientLayer, type TestDatabase } from "./postgres.ts"

export interface Receiver {
  readonly url: string
  readonly received: Array<Asked>
  /** The statuses of the next responses; 200 after those. Undefined: no response, and the connection is closed. */
  readonly answers: Array<number | undefined>
  /** Seconds that every response asks the sender to wait for. */
  retryAfter: number | undefined
  /** Awaited before the next response is sent. */
  held: Promise<void>
  /** While true, requests get no response. */
  holds: boolean
}

export const receiver = async (t: Test): Promise<Receiver> => {
  const { asked, url } = await answeringServer(t, async (response) => {
    if (to.holds) return
    await to.held
    const status = to.answers.length > 0 ? to.answers.shift() : 200
    if (status === undefined) return void response.destroy()
    if (to.retryAfter !== undefined) response.setHeader("retry-after", String(to.retryAfter))
    response.writeHead(status, { location: "/elsewhere" }).end("not read")
  })
  const to: Receiver = {
    url: `${url}/hook?a=1`,
    received: asked,
    answers: [],
    retryAfter: undefined,
    held: Promise.resolve(),
    holds: false
  }
  return to
}

const files = Layer.succeed(PublicFiles, {
  addressesOf: ({ id, recordingKey, transcriptKey }) =>
    Effect.succeed({
      recording: recordingKey === undefined ? undefined : `https://files.example/${id}/recording`,
      transcript: transcriptKey === undefined ? undefined : `https://files.example/${id}/transcript`
    })
})

interface NodeOptions {
  readonly privateTargets?: boolean
  /** Replaces the real sender. */
  readonly sender?: Layer.Layer<WebhookSender>
}

/** An engine node that delivers until it is stopped or the test ends. */
const nodeOf =
  ({ url }: TestDatabase) =>
  async (t: Test, { privateTargets = true, sender }: NodeOptions = {}) => {
    const scope = Scope.makeUnsafe()
    const client = clientLayer(Redacted.make(url), { applicationName: "test" })
    const layer = events
      .nodeWebhooksOf(sender)
      .pipe(Layer.provide(egress({ privateWebhooks: privateTargets })), Layer.provide([client, files, Logger.layer([])]))
    await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
    t.teardown(stop)
    return stop
  }

const queryOf =
  ({ run }: TestDatabase) =>
  <Row extends object>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    // The cast holds because these are the rows of our own statement.
    run(SqlClient.SqlClient.use(statement)) as Promise<ReadonlyArray<Row>>

export const webhook = (id: string, data: object) => ({ id, type: "webhook", position: { x: 0, y: 0 }, data })

const sceneOf = (database: TestDatabase) => async () => {
  const query = queryOf(database)
  const organizationId = await database.run(given.organization())
  const { agentId } = await database.run(given.agent(organizationId))
  const service = <A, E>(effect: Effect.Effect<A, E, NodeWebhooks>) => database.run(Effect.provide(effect, NodeWebhooks.layer))
  const deliveries = (run: RunId) => service(NodeWebhooks.use((_) => _.list(organizationId, agentId, run)))
  return {
    organizationId,
    agentId,
    deliveries,
    /** Publishes another version, which calls use from now on. */
    publish: async (...nodes: ReadonlyArray<object>) => {
      await query(
        (sql) => sql`
          WITH version AS (
            INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition)
            SELECT ${organizationId}::int, ${agentId}::int, max(version_number) + 1, 'published', ${JSON.stringify({ nodes, edges: [] })}::text::jsonb
            FROM agent_definitions WHERE agent_id = ${agentId}::int RETURNING id
          )
          UPDATE agents SET current_definition_id = version.id FROM version WHERE agents.id = ${agentId}::int RETURNING agents.id`
      )
    },
    /** Inserts a finished call and returns the id of its run. */
    call: async (columns: object = {}) => {
      const [run] = await query<{ readonly id: number }>(
        (sql) => sql`
          INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context)
          SELECT organization_id, id, current_definition_id, gen_random_uuid(), 'WR-API-1', 'ari', '{"first_name": "Ada"}'
          FROM agents WHERE id = ${agentId} RETURNING id`
      )
      const id = RunId.make(run?.id ?? 0)
      const end = { gatheredContext: '{"call_disposition": "user_hangup"}', usageInfo: '{"call_duration_seconds": 1.5}', ...columns }
      await query((sql) => sql`UPDATE runs SET ${sql.update({ isCompleted: true, ...end })} WHERE id = ${id}`)
      return id
    },
    /** Waits until the run's first delivery has these properties. */
    settled: (run: RunId, wanted: Partial<NodeWebhook>) =>
      until(`a delivery with ${JSON.stringify(wanted)}`, async () => {
        const [first] = await deliveries(run)
        const isWanted = first !== undefined && Object.entries(wanted).every(([name, value]) => Reflect.get(first, name) === value)
        return isWanted ? first : undefined
      })
  }
}

export const arrived = (to: Receiver, count: number) =>
  until(`${count} requests`, () => (to.received.length >= count ? to.received : undefined))

export const nodeWebhooks = (database: TestDatabase) => {
  const query = queryOf(database)
  return {
    node: nodeOf(database),
    query,
    scene: sceneOf(database),
    /** Makes the next try due. */
    makeDue: (run: RunId) =>
      query(
        (sql) => sql`
          UPDATE node_webhook_deliveries SET due_at = now() WHERE run_id = ${run} AND state = 'pending'
          RETURNING pg_notify('trunkline_events', 'nodeWebhooks')`
      )
  }
}
