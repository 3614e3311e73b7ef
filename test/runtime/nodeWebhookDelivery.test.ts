/** What webhook nodes send when a call is over, from the end of its run in the database to a real server of ours, and how deliveries take turns. */
import { Effect, Layer } from "effect"
import t, { type Test } from "tap"
import type { NodeWebhook } from "#core/webhook/NodeWebhook.ts"
import { NodeWebhookQueue } from "#core/webhook/NodeWebhookQueue.ts"
import { type Sent, WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import { CurrentWebhookMetrics } from "#runtime/metrics/WebhookMetrics.ts"
import { egress } from "#test/support/egress.ts"
import { until } from "#test/support/engine.ts"
import { arrived, nodeWebhooks, receiver, webhook } from "#test/support/nodeWebhooks.ts"
import { openDatabase } from "#test/support/postgres.ts"

const database = await openDatabase(t)
const { makeDue, node, query, scene } = nodeWebhooks(database)
/** An agent with a single webhook node, and its receiver. */
const single = async (t: Test, data: object = {}) => {
  const to = await receiver(t)
  const one = await scene()
  await one.publish(webhook("a", { endpoint_url: to.url, ...data }))
  return { ...one, to }
}
const claiming = (limits: Parameters<NodeWebhookQueue["Service"]["claim"]>[0]) =>
  NodeWebhookQueue.use((_) => _.claim(limits)).pipe(Effect.provide(NodeWebhookQueue.layer))

t.test("given a webhook node for each method, when a call is over, then each is sent once, with a body if it has one", async (t) => {
  const to = await receiver(t)
  await node(t)
  const { call, publish, settled } = await scene()
  const data = { endpoint_url: to.url, payload_template: { name: "{{initial_context.first_name}}" } }
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
  await publish(...methods.map((http_method) => webhook(http_method, { ...data, http_method })), webhook("none", data))
  const run = await call()
  const requests = await arrived(to, 6)
  const body = '{"name":"Ada","call_disposition":"user_hangup"}'
  const bodies = { DELETE: "", GET: "", PATCH: body, POST: body, PUT: body }
  t.strictSame(requests.map(({ body, method }) => [method, body]).sort(), [...Object.entries(bodies), ["POST", body]].sort())
  for (const { headers, method, path } of requests) {
    t.match(headers, {
      "content-type": "application/json",
      "x-dograh-delivery-id": /^[0-9a-f-]{36}$/,
      "x-dograh-workflow-run-id": String(run),
      "x-dograh-delivery-attempt": "1"
    })
    t.equal(path, "/hook?a=1")
    t.equal(headers["content-length"], method === "GET" || method === "DELETE" ? undefined : String(body.length))
    t.equal(headers["transfer-encoding"], undefined)
  }
  t.equal(new Set(requests.map(({ headers }) => headers["x-dograh-delivery-id"])).size, 6)
  t.match(await settled(run, { state: "succeeded" }), { nodeId: "GET", method: "GET", url: to.url, attempts: 1, lastStatus: 200 })
})

t.test("given a node with headers, a credential and a template", async (t) => {
  const to = await receiver(t)
  await node(t)
  const { call, organizationId, publish, settled } = await scene()
  const [credential] = await query<{ readonly uuid: string }>(
    (sql) => sql`INSERT INTO credentials (organization_id, name, credential_type, credential_data, allowed_hosts)
      VALUES (${organizationId}, 'crm', 'bearer_token', '{"token": "t0ken"}', ${[new URL(to.url).host]}::text[]) RETURNING uuid`
  )
  await publish(
    webhook("crm", {
      name: "CRM",
      endpoint_url: to.url,
      credential_uuid: credential?.uuid,
      custom_headers: [
        { key: "X-Source", value: "{{workflow_name}}" },
        { key: "X-Api-Key", value: "visible to everybody" }
      ],
      payload_template: {
        "{{gathered_context.call_disposition}}": { seconds: "{{cost_info.call_duration_seconds}}", all: ["{{workflow_run_id}}", 1] },
        recording: "{{recording_url}}",
        transcript: "{{transcript_url}}",
        none: "{{user_recording_url}}{{campaign_id}}"
      }
    })
  )

  t.test("when a call is over, then they are in the request, and what looks like a secret is not", async (t) => {
    const run = await call({ recordingKey: "recordings/1.wav" })
    const [request] = await arrived(to, 1)
    t.match(request?.headers, { authorization: "Bearer t0ken", "x-source": "Reminder", "x-api-key": undefined })
    t.strictSame(JSON.parse(request?.body ?? ""), {
      user_hangup: { seconds: "1.5", all: [String(run), 1] },
      recording: `https://files.example/${run}/recording`,
      transcript: "",
      none: "",
      call_disposition: "user_hangup"
    })
    t.match(await settled(run, { state: "succeeded" }), { name: "CRM" })
    const kept = await query((sql) => sql`SELECT d::text AS all FROM node_webhook_deliveries d WHERE run_id = ${run}`)
    t.notMatch(JSON.stringify(kept), /t0ken|visible to everybody/, "no secret is kept with it")
  })

  const spoilt = (what: string, lastError: string, spoil: Parameters<typeof query>[0]) =>
    t.test(`when ${what}, then nothing is sent, and the reason is recorded`, async (t) => {
      await query(spoil)
      const dead = await settled(await call(), { state: "dead_letter" })
      t.match(dead, { lastError, attempts: 0, lastStatus: undefined, lastAttemptAt: undefined })
      t.equal(to.received.length, 1)
    })
  spoilt(
    "the host is not the credential's",
    "credential_host_refused",
    (sql) => sql`UPDATE credentials SET allowed_hosts = '{127.0.0.1}' WHERE organization_id = ${organizationId}`
  )
  spoilt("the credential is gone", "credential_not_found", (sql) => sql`DELETE FROM credentials WHERE organization_id = ${organizationId}`)
})

t.test("given nodes that cannot be sent as they are, then they are dead-lettered with the reason, and the others are sent", async (t) => {
  const to = await receiver(t)
  await node(t)
  const { call, deliveries, publish } = await scene()
  await publish(
    webhook("nowhere", {}),
    webhook("brew", { endpoint_url: to.url, http_method: "BREW" }),
    webhook("broken", { endpoint_url: "not an address" }),
    webhook("long", { endpoint_url: to.url, payload_template: "{{initial_context}}".repeat(1000) }),
    webhook("x".repeat(9000), { endpoint_url: to.url })
  )
  const run = await call({ initialContext: JSON.stringify({ text: "x".repeat(2000) }) })
  const found = await until("their ends", async () => {
    const all = await deliveries(run)
    return all.length === 5 && all.every(({ state }) => state !== "pending") ? all : undefined
  })
  const errors = found.map(({ lastError }) => lastError)
  t.strictSame(errors, ["url_missing", "method_unknown", "url_refused", "payload_too_large", undefined])
  t.equal(to.received.length, 1)
})

t.test("given a node whose receiver does not accept requests", async (t) => {
  const { call, publish, settled, to } = await single(t, {
    payload_template: { at: "{{current_time}}", name: "{{workflow_name}}" }
  })
  await node(t)
  const waits = ({ dueAt, lastAttemptAt }: NodeWebhook) => Math.round((dueAt.getTime() - (lastAttemptAt?.getTime() ?? 0)) / 1000)

  t.test("when it answers 503 and then 200, then it gets the same bytes again under the same id", async (t) => {
    to.answers.push(503)
    const run = await call()
    const failed = await settled(run, { attempts: 1 })
    t.match(failed, { state: "pending", lastStatus: 503, lastError: "status_503" })
    t.equal(waits(failed), 30)
    await query((sql) => sql`UPDATE agents SET name = 'Renamed'`)
    await makeDue(run)
    t.match(await settled(run, { attempts: 2 }), { state: "succeeded", lastStatus: 200, lastError: undefined })
    const [first, second] = await arrived(to, 2)
    t.equal(second?.body, first?.body)
    t.equal(second?.headers["x-dograh-delivery-id"], first?.headers["x-dograh-delivery-id"])
    const attempts = [first, second].map((one) => one?.headers["x-dograh-delivery-attempt"])
    t.strictSame(attempts, ["1", "2"])
  })

  t.test("when nothing listens there, then it is tried again", async (t) => {
    await publish(webhook("a", { endpoint_url: "http://127.0.0.1:1/" }))
    t.match(await settled(await call(), { attempts: 1 }), { state: "pending", lastStatus: undefined, lastError: "connection_refused" })
  })
})

t.test("given nodes that are turned off, and a version that is no longer current", async (t) => {
  const [old, current] = [await receiver(t), await receiver(t)]
  await node(t)
  const { agentId, call, deliveries, publish } = await scene()

  t.test("when a call is over, then only those that are turned on are sent", async (t) => {
    const turned = (enabled: unknown, id: string) => webhook(id, { endpoint_url: old.url, enabled })
    await publish(...[turned(false, "off"), turned(null, "null"), turned("false", "text"), turned(undefined, "on")], {
      id: "qa",
      type: "qa",
      data: {}
    })
    const run = await call()
    await arrived(old, 3)
    const ids = (await deliveries(run)).map(({ nodeId }) => nodeId)
    t.strictSame(ids, ["null", "text", "on"])
    await publish()
    t.strictSame(await deliveries(await call()), [], "and nothing is written for a version without any")
  })

  t.test("when the agent was changed during the call, then the version that the call used applies", async (t) => {
    old.received.length = 0
    await publish(webhook("on", { endpoint_url: old.url }))
    const [version] = await query<{ readonly id: number }>(
      (sql) => sql`SELECT current_definition_id AS id FROM agents WHERE id = ${agentId}`
    )
    await publish(webhook("on", { endpoint_url: current.url }))
    await call({ agentDefinitionId: version?.id })
    await arrived(old, 1)
    await call()
    await arrived(current, 1)
    t.strictSame([old.received.length, current.received.length], [1, 1])
  })
})

t.test("given a silent receiver, when its node is stopped, then the next one sends it again at once, under the same id", async (t) => {
  const { call, settled, to } = await single(t)
  to.holds = true
  const stop = await node(t)
  const run = await call()
  await arrived(to, 1)
  await stop()
  to.holds = false
  await node(t)
  t.match(await settled(run, { state: "succeeded" }), { attempts: 1 })
  t.equal(to.received.length, 2)
  t.equal(new Set(to.received.map(({ headers }) => headers["x-dograh-delivery-id"])).size, 1)
})

t.test("given a node that died after sending, when its lease has expired, and not before, then another one sends it again", async (t) => {
  const { call, settled, to } = await single(t)
  const run = await call()
  const ofRun = Effect.map(
    claiming({ limit: 10, limitOfOrganization: 10, sending: new Map() }),
    (claimed) => claimed.filter(({ runId }) => runId === run).length
  )
  t.strictSame(await database.run(Effect.all([ofRun, ofRun])), [1, 0])
  await node(t)
  const [leased] = await query<{ readonly seconds: number }>(
    (sql) => sql`SELECT extract(epoch FROM due_at - now())::int AS seconds FROM node_webhook_deliveries WHERE run_id = ${run}`
  )
  t.ok((leased?.seconds ?? 0) > 60, "it is let alone for longer than any try takes")
  t.equal(to.received.length, 0)
  await makeDue(run)
  t.match(await settled(run, { state: "succeeded" }), { attempts: 1 })
  t.equal(to.received.length, 1)
})

t.test("given an internal error, when it affects a delivery, then that is a try, and the delivery does not stay claimed", async (t) => {
  const { call, settled } = await single(t, { endpoint_url: "https://example.com/" })
  const asked: Array<Sent> = []
  const faulty = Layer.succeed(WebhookSender, {
    send: (sent) => {
      asked.push(sent)
      return Effect.die("a fault")
    }
  })
  await node(t, { sender: faulty })
  t.match(await settled(await call(), { attempts: 1 }), { state: "pending", lastStatus: undefined, lastError: "internal_error" })
  t.match(asked, [{ timeout: "30 seconds" }])
})

t.test("given a receiver that does not answer, when the time is over, then it is given up", async (t) => {
  const to = await receiver(t)
  to.holds = true
  const sent = { method: "GET", url: to.url, headers: {}, body: undefined, timeout: "100 millis" } as const
  const answer = WebhookSender.use((_) => Effect.flip(_.send(sent))).pipe(
    Effect.provide(WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks: true }))))
  )
  t.match(await Effect.runPromise(answer), { _tag: "NoAnswer", reason: "timeout" })
  t.match(to.received, [{ method: "GET", body: "" }])
})

t.test("given two engine nodes, when another organization's receiver is silent, then this one gets each exactly once", async (t) => {
  const [one, other] = [await single(t), await single(t)]
  other.to.holds = true
  await Promise.all([node(t), node(t)])
  for (let calls = 0; calls < 100; calls++) await other.call()
  const runs = await Promise.all(Array.from({ length: 100 }, () => one.call()))
  await arrived(one.to, runs.length)
  await until("records", async () => {
    const ends = await Promise.all(runs.map((run) => one.deliveries(run)))
    return ends.every(([delivery]) => delivery?.state === "succeeded") || undefined
  })
  t.equal(one.to.received.length, runs.length)
  t.equal(new Set(one.to.received.map(({ headers }) => headers["x-dograh-workflow-run-id"])).size, runs.length)
  t.ok(other.to.received.length <= 32, `${other.to.received.length} were begun for the other`)
})

t.test("given deliveries from long ago, when the engine starts, then their requests are deleted and all else stays", async (t) => {
  const { call, settled } = await single(t)
  const stop = await node(t)
  const runs = [await call(), await call()]
  for (const run of runs) await settled(run, { state: "succeeded" })
  await stop()
  await query((sql) => sql`UPDATE node_webhook_deliveries SET settled_at = now() - interval '8 days' WHERE run_id = ${runs[0] ?? 0}`)
  await node(t)
  const kept = () =>
    query<{ readonly hasBytes: boolean; readonly state: string }>(
      (sql) => sql`SELECT headers IS NOT NULL OR body IS NOT NULL AS has_bytes, state FROM node_webhook_deliveries
        WHERE run_id = ANY (${runs}::int[]) ORDER BY run_id`
    )
  await until("less to keep", async () => (await kept()).some(({ hasBytes }) => !hasBytes) || undefined)
  t.strictSame(await kept(), [
    { hasBytes: false, state: "succeeded" },
    { hasBytes: true, state: "succeeded" }
  ])
})

t.test("given a run with deliveries, when it is deleted, then they go with it", async (t) => {
  const { call } = await single(t)
  const run = await call()
  await query((sql) => sql`DELETE FROM runs WHERE id = ${run}`)
  t.strictSame(await query((sql) => sql`SELECT 1 FROM node_webhook_deliveries WHERE run_id = ${run}`), [])
})

t.test("given a success that cannot be recorded, when its lease has expired, then it is sent again as the same try", async (t) => {
  const { call, settled, to } = await single(t)
  await node(t)
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
  const attempts = (await arrived(to, 2)).map(({ headers }) => headers["x-dograh-delivery-attempt"])
  t.strictSame(attempts, ["1", "1"])
})

t.test("given an organization with many deliveries in flight, when there is room, then others come first", async (t) => {
  await query((sql) => sql`DELETE FROM node_webhook_deliveries WHERE state = 'pending'`)
  const [busy, other] = [await single(t), await single(t)]
  const waiting = [await busy.call(), await busy.call(), await busy.call()]
  const late = await other.call()
  const sending = new Map([[busy.organizationId, 2]])
  const claimed = await database.run(claiming({ limit: 2, limitOfOrganization: 4, sending }))
  t.strictSame(new Set(claimed.map(({ runId }) => runId)), new Set([late, waiting[0]]))
})

t.test("given all these tries, when the metrics are read, then they are counted by result", async (t) => {
  const { nodes } = await Effect.runPromise(CurrentWebhookMetrics)
  t.strictSame([...nodes.byResult.keys()].sort(), ["dead_letter", "failed", "succeeded"])
})
