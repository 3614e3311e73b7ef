/** Deliveries of webhook nodes that take turns, or whose turn ends badly. */
import { Effect } from "effect"
import t from "tap"
import { NodeWebhookQueue } from "#core/webhook/NodeWebhookQueue.ts"
import { until } from "#test/support/engine.ts"
import { arrived, nodeWebhooks, receiver, webhook } from "#test/support/nodeWebhooks.ts"
import { openDatabase } from "#test/support/postgres.ts"

const database = await openDatabase(t)
const { makeDue, node, query, scene } = nodeWebhooks(database)

t.test("given a success that cannot be recorded, when its lease has expired, then it is sent again as the same try", async (t) => {
  const to = await receiver(t)
  await node(t)
  const { call, publish, settled } = await scene()
  await publish(webhook("a", { endpoint_url: to.url }))
  await query((sql) => sql`CREATE SEQUENCE refusals`)
  await query((sql) =>
    sql.unsafe("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''refusals''); RAISE ''no room''; END'")
  )
  await query((sql) =>
    sql.unsafe(`CREATE TRIGGER refused BEFORE UPDATE ON node_webhook_deliveries FOR EACH ROW WHEN (NEW.state = 'succeeded')
      EXECUTE FUNCTION refuse()`)
  )
  const run = await call()
  await until("a refusal", async () => {
    const [row] = await query<{ readonly isCalled: boolean }>((sql) => sql`SELECT is_called FROM refusals`)
    return row?.isCalled === true || undefined
  })
  await query((sql) => sql`DROP TRIGGER refused ON node_webhook_deliveries`)
  await makeDue(run)
  t.match(await settled(run, { state: "succeeded" }), { attempts: 1, lastError: undefined })
  t.strictSame(
    (await arrived(to, 2)).map(({ headers }) => headers["x-dograh-delivery-attempt"]),
    ["1", "1"]
  )
})

t.test("given an organization with many deliveries in flight, when there is room, then others come first", async (t) => {
  const [busy, other] = [await scene(), await scene()]
  await busy.publish(webhook("a", { endpoint_url: "http://127.0.0.1:1" }))
  await other.publish(webhook("a", { endpoint_url: "http://127.0.0.1:1" }))
  const waiting = [await busy.call(), await busy.call(), await busy.call()]
  const late = await other.call()
  const sending = new Map([[busy.organizationId, 2]])
  const claimed = await database.run(
    NodeWebhookQueue.use((_) => _.claim({ limit: 2, limitOfOrganization: 4, sending })).pipe(Effect.provide(NodeWebhookQueue.layer))
  )
  t.strictSame(new Set(claimed.map(({ runId }) => runId)), new Set([late, waiting[0]]))
  await query((sql) => sql`DELETE FROM node_webhook_deliveries WHERE organization_id IN (${busy.organizationId}, ${other.organizationId})`)
})
