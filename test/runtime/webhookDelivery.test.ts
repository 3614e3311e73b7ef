/** Events on their way to a real server of ours, from the change in the database to the signed request. */
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import t, { type Test } from "tap"
import { WebhookEndpoints } from "#core/webhook/WebhookEndpoints.ts"
import { WebhookQueue } from "#core/webhook/WebhookQueue.ts"
import * as events from "#runtime/events.ts"
import { egress } from "#test/support/egress.ts"
import { until } from "#test/support/engine.ts"
import * as given from "#test/support/given.ts"
import { arrived, type Receiver, receiver } from "#test/support/nodeWebhooks.ts"
import { clientLayer, openDatabase } from "#test/support/postgres.ts"

const database = await openDatabase(t)

const client = clientLayer(Redacted.make(database.url), { applicationName: "test" })
/** A node that delivers until the test ends. */
const node = async (t: Test) => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      events.followed.pipe(Layer.provide(egress({ privateWebhooks: true })), Layer.provide(client), Layer.provide(Logger.layer([]))),
      scope
    )
  )
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return <A, E>(effect: Effect.Effect<A, E, WebhookEndpoints>) => Effect.runPromise(Effect.provideContext(effect, context))
}

const settings = { description: "", eventTypes: [], enabled: true } as const
const query = { state: undefined, before: undefined, limit: 100 }
/** An endpoint for all events, and a node that delivers to it. */
const scene = async (t: Test) => {
  const run = await node(t)
  const to = await receiver(t)
  const organizationId = await database.run(given.organization())
  const asked = <A, E>(ask: (endpoints: WebhookEndpoints["Service"]) => Effect.Effect<A, E>) => run(WebhookEndpoints.use(ask))
  const endpoint = await asked((_) => _.create(organizationId, { ...settings, url: to.url }))
  const { id } = endpoint
  return {
    asked,
    endpoint,
    organizationId,
    to,
    deliveries: (state: "pending" | undefined = undefined) => asked((_) => _.deliveries(organizationId, id, { ...query, state })),
    get: () => asked((_) => _.get(organizationId, id)),
    replayAll: () => asked((_) => _.replayAll(organizationId, id)),
    test: () => asked((_) => _.test(organizationId, id)),
    update: (changes: { readonly enabled?: boolean; readonly url?: string }) => asked((_) => _.update(organizationId, id, changes))
  }
}

/** Sets when the next try is due. */
const dueIn = (hours: number, id: number) =>
  database.run(function* () {
    const sql = yield* SqlClient.SqlClient
    const due = sql`now() + ${hours} * interval '1 hour'`
    yield* sql`UPDATE webhook_deliveries SET due_at = ${due} WHERE endpoint_id = ${id} AND state = 'pending'`
    yield* sql`UPDATE webhook_endpoints SET next_due_at = ${due}, version = version + 1 WHERE id = ${id}`
    if (hours === 0) yield* sql`SELECT pg_notify('trunkline_events', 'deliveries')`
  })
const makeDue = (id: number) => dueIn(0, id)

const signedWith = ({ secret }: { readonly secret: string }, { body, headers }: Receiver["received"][number]): string =>
  `v1,${createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`)
    .digest("base64")}`

t.test("given a campaign and an endpoint for all events", async (t) => {
  const { asked, deliveries, endpoint, organizationId, test, to } = await scene(t)

  t.test("when the campaign is created, started and completed with its call, then each event arrives once, signed", async (t) => {
    await database.run(function* () {
      const sql = yield* SqlClient.SqlClient
      const { agentId, campaignId, definitionId, telephonyConfigurationId } = yield* given.campaign({ organizationId, contacts: 1 })
      const callId = "00000000-0000-4000-8000-000000000077"
      yield* sql`UPDATE campaigns SET state = 'running' WHERE id = ${campaignId}`
      yield* sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, state)
        VALUES (${callId}::uuid, ${organizationId}, ${campaignId}, 1, ${telephonyConfigurationId}, 'n', 'sent')`
      yield* sql`INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context)
        VALUES (${organizationId}, ${agentId}, ${definitionId}, ${campaignId}, ${callId}::uuid, 'WR-1', 'ari', '{"phone_number": "of the contact", "called_number": "+15550000001"}')`
      yield* sql`UPDATE attempts SET state = 'answered' WHERE id = ${callId}::uuid`
      yield* sql`
        WITH ended AS (UPDATE attempts SET state = 'ended', outcome = 'answered', hangup_cause = 'normal_clearing' WHERE id = ${callId}::uuid RETURNING id)
        UPDATE runs SET is_completed = true, usage_info = '{"call_duration_seconds": 1.5}',
          gathered_context = '{"mapped_call_disposition": "user_hangup"}' FROM ended WHERE attempt_id = ended.id`
      yield* sql`UPDATE campaigns SET state = 'completed' WHERE id = ${campaignId}`
    })
    const requests = await arrived(to, 5)
    const sent = requests.map(({ body }) => JSON.parse(body)).sort((a, b) => Number(a.id) - Number(b.id))
    const types = sent.map(({ type }) => type)
    t.strictSame(types, ["campaign.created", "campaign.started", "run.answered", "run.completed", "campaign.completed"])
    t.match(sent[3], {
      specversion: "1.0",
      source: `/organizations/${organizationId}`,
      subject: /^runs\/\d+$/,
      time: /Z$/,
      datacontenttype: "application/json",
      data: {
        phone_number: "+15550000001",
        outcome: "answered",
        hangup_cause: "normal_clearing",
        disposition: "user_hangup",
        duration_seconds: 1.5,
        row: 1
      }
    })
    t.match(sent[4], { data: { state: "completed", previous_state: "running", total_rows: 1 } })
    for (const request of requests) {
      t.equal(request.headers["webhook-signature"], signedWith(endpoint, request))
      t.equal(request.headers["webhook-id"], JSON.parse(request.body).id)
      t.equal(request.headers["content-type"], "application/cloudevents+json")
      t.equal(request.path, "/hook?a=1")
    }
    const delivered = await until("records", async () => {
      const found = await deliveries()
      return found.every(({ state }) => state === "delivered") ? found : undefined
    })
    t.strictSame(
      delivered.map(({ attempts, lastStatus }) => [attempts, lastStatus]),
      Array.from({ length: 5 }, () => [1, 200])
    )
  })

  t.test("when the secret was just changed, then both sign", async (t) => {
    const rotated = await asked((_) => _.rotate(organizationId, endpoint.id))
    to.received.length = 0
    await test()
    const [request] = await arrived(to, 1)
    t.not(rotated.secret, endpoint.secret)
    t.equal(request?.headers["webhook-signature"], request && `${signedWith(rotated, request)} ${signedWith(endpoint, request)}`)
  })
})

t.test("given an endpoint that does not accept requests", async (t) => {
  const { deliveries, endpoint, replayAll, test, to } = await scene(t)
  const latest = async (what: string, attempts: number) => {
    const found = await until(what, async () => {
      const [one] = await deliveries()
      return one?.attempts === attempts ? one : undefined
    })
    return { ...found, waits: Math.round((found.dueAt.getTime() - (found.lastAttemptAt?.getTime() ?? 0)) / 1000) }
  }

  t.test("when it answers 500, redirects or hangs up, then the delivery is retried later each time, and then accepted", async (t) => {
    to.answers.push(500, 302, undefined)
    await test()
    const first = await latest("first failure", 1)
    t.match(first, { state: "pending", lastStatus: 500, lastError: "status_500" })
    t.ok(first.waits >= 4 && first.waits <= 6, `${first.waits} s`)
    await makeDue(endpoint.id)
    t.match(await latest("second failure", 2), { state: "pending", lastStatus: 302, lastError: "status_302" })
    await makeDue(endpoint.id)
    const third = await latest("third failure", 3)
    t.match(third, { state: "pending", lastStatus: undefined, lastError: "connection_lost" })
    t.ok(third.waits >= 1600 && third.waits <= 2000, `${third.waits} s`)
    await makeDue(endpoint.id)
    t.match(await latest("success", 4), { state: "delivered", lastStatus: 200, lastError: undefined })
    t.equal(to.received.length, 4)
    t.equal(new Set(to.received.map(({ headers }) => headers["webhook-id"])).size, 1)
    t.notOk(to.received.some(({ path }) => path === "/elsewhere"))
  })

  t.test("when it asks for more time, then it gets it", async (t) => {
    to.answers.push(429)
    to.retryAfter = 3600
    await test()
    t.match(await latest("failure", 1), { state: "pending", waits: 3600 })
    to.retryAfter = undefined
    await makeDue(endpoint.id)
    await latest("success", 2)
  })

  t.test("when all tries have failed, then the delivery is dead, and can be replayed", async (t) => {
    to.answers.push(500, 500)
    await test()
    await latest("failure", 1)
    await database.run(
      SqlClient.SqlClient.use(
        (sql) => sql`UPDATE webhook_deliveries SET attempts = 9 WHERE endpoint_id = ${endpoint.id} AND state = 'pending'`
      )
    )
    await makeDue(endpoint.id)
    const dead = await latest("last failure", 10)
    t.equal(dead.state, "dead")
    t.equal(await replayAll(), 1)
    t.match(await latest("success", 1), { id: dead.id, state: "delivered" })
    t.equal(await replayAll(), 0)
  })
})

t.test("given an endpoint that accepts a request without a body in its answer, then that is a delivery like any other", async (t) => {
  const { deliveries, test, to } = await scene(t)
  to.answers.push(204)
  await test()
  const outcome = await until("the outcome", async () => (await deliveries()).find(({ attempts }) => attempts > 0))
  t.match(outcome, { state: "delivered", attempts: 1, lastStatus: 204 })
})

t.test("given an endpoint that says that it is gone, then it is disabled and gets nothing more until it is enabled", async (t) => {
  const { deliveries, get, test, to, update } = await scene(t)
  to.answers.push(410)
  await test()
  await until("its end", async () => (await get()).disabledReason)
  t.match(await get(), { enabled: false, disabledReason: "gone" })
  t.match(await deliveries(), [{ state: "dead", attempts: 1, lastStatus: 410 }])
  await update({ enabled: true })
  t.match(await get(), { enabled: true, disabledReason: undefined })
  to.received.length = 0
  await test()
  await arrived(to, 1)
})

t.test("given an endpoint whose URL changes during its last request, then it stays enabled", async (t) => {
  const { deliveries, get, test, to, update } = await scene(t)
  const next = await receiver(t)
  const held = Promise.withResolvers<void>()
  to.held = held.promise
  to.answers.push(410)
  await test()
  await arrived(to, 1)
  await update({ url: next.url })
  held.resolve()
  await until("the end of it", async () => (await deliveries())[0]?.lastStatus)
  await test()
  await arrived(next, 1)
  t.match(await get(), { enabled: true, disabledReason: undefined })
})

t.test("given a delivery whose retry is hours away, when there is a new event, then it is sent without waiting", async (t) => {
  const { deliveries, endpoint, test, to } = await scene(t)
  to.answers.push(500)
  await test()
  await until("a failure", async () => (await deliveries())[0]?.lastStatus)
  await dueIn(2, endpoint.id)
  await test()
  await arrived(to, 2)
  // The receiver knows about it before the engine has recorded the response.
  const [latest, earlier] = await until("the end of the second", async () => {
    const found = await deliveries()
    return found[0]?.state === "pending" ? undefined : found
  })
  t.match([latest, earlier], [{ state: "delivered" }, { state: "pending", attempts: 1 }])
})

t.test("given two nodes and many events, when another endpoint never answers, then this one gets every event exactly once", async (t) => {
  const { asked, deliveries, organizationId, to } = await scene(t)
  await node(t)
  const dead = await receiver(t)
  dead.answers.push(...Array.from({ length: 500 }, () => undefined))
  await asked((_) => _.create(organizationId, { ...settings, url: dead.url }))
  const wanted = 300
  await database.run(
    SqlClient.SqlClient.use(
      (sql) =>
        sql`SELECT add_event(${organizationId}, 'campaign.started', 'campaigns/' || n, '{}') FROM generate_series(1, ${wanted}::int) AS n`
    )
  )
  await until("all of them", async () => (to.received.length >= wanted ? true : undefined))
  await until("records", async () => (await deliveries("pending")).length === 0 || undefined)
  t.equal(new Set(to.received.map(({ body }) => JSON.parse(body).subject)).size, wanted)
  t.equal(to.received.length, wanted)
  t.ok(dead.received.length < 20)
})

t.test("given an endpoint of a node that died in its turn, when its lease has expired, then another node continues", async (t) => {
  const organizationId = await database.run(given.organization())
  const to = await receiver(t)
  await database.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* WebhookQueue
      yield* sql`INSERT INTO webhook_endpoints (organization_id, url, description, event_types, enabled, secret, next_due_at)
        VALUES (${organizationId}, ${to.url}, '', '{}', true, 'whsec_AAAA', now())`
      const [event] = yield* sql<{ readonly id: number }>`INSERT INTO events (organization_id, type, subject, data, created_at)
        VALUES (${organizationId}, 'campaign.started', 'campaigns/1', '{}', now()) RETURNING id`
      yield* sql`INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id)
        SELECT organization_id, id, ${event?.id ?? 0}::bigint FROM webhook_endpoints WHERE organization_id = ${organizationId}`
      const claimed = Effect.map(queue.claim(10), (endpoints) => endpoints.filter(({ url }) => url === to.url).length)
      t.strictSame([yield* claimed, yield* claimed], [1, 0])
      yield* sql`UPDATE webhook_endpoints SET leased_until = now() - interval '1 second' WHERE organization_id = ${organizationId}`
    }).pipe(Effect.provide(WebhookQueue.layer))
  )
  await node(t)
  t.match((await arrived(to, 1)).length, 1)
})
