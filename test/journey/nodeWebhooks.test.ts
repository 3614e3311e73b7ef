/** What the webhook nodes of an agent report about a campaign's calls, from an engine that dies in the middle. */
import t from "tap"
import { judge, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { type Received, receiver, webhook } from "#test/support/nodeWebhooks.ts"

const slots = 5
/** Answered, busy, not answered, dropped during the call. */
const endings = ["01", "02", "01", "05"]
const payload_template = { run: "{{workflow_run_id}}", number: "{{initial_context.phone_number}}", recording: "{{recording_url}}" }

/** Makes deliveries due, as if the leases of the killed process had expired. */
const makeDue = ({ sql }: World) => sql`
  WITH due AS (UPDATE node_webhook_deliveries SET due_at = now() WHERE state = 'pending' RETURNING id)
  SELECT pg_notify('trunkline_events', 'nodeWebhooks') FROM due LIMIT 1`

const idOf = ({ headers }: Received) => String(headers["x-dograh-delivery-id"])

t.test("given an agent with two webhook nodes, when the engine dies in its campaign and comes back", async (t) => {
  const to = await receiver(t)
  const world = await World.open(t, {
    emulator: { ringMillis: 300, seed: 5, talkMillis: 600, talkOnceHeard: true },
    environment: { ORG_CONCURRENCY: "50", WEBHOOK_PRIVATE_TARGETS: "on" }
  })
  const start = { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet.", greeting: "Hello." } }
  const nodes = [
    start,
    webhook("post", { name: "Post", endpoint_url: to.url, payload_template }),
    webhook("get", { name: "Get", endpoint_url: to.url, http_method: "GET" })
  ]
  const changed = await world.api.ask("PUT", `/workflow/${world.agentId}`, { workflow_definition: { nodes, edges: [] } })
  t.match(changed, { status: 200, body: { version_status: "published" } })
  const retry = { maxRetries: 0, retryDelaySeconds: 30 }
  const { id } = await world.campaign(numbersOf(24, endings), { max_concurrency: slots, retry })
  await world.api.start(id)

  await untilTrue("webhooks under way", () => to.received.length >= 6)
  to.holds = true
  await untilTrue("webhooks without an answer", () => to.received.length >= 10)
  await world.end("SIGKILL")
  to.holds = false
  await world.sql`UPDATE attempts SET sent_at = sent_at - interval '30 seconds' WHERE state = 'sent'`
  await world.launch()
  await world.api.untilState(id, "completed")
  await until("all deliveries", async () => {
    await makeDue(world)
    const [left] = await world.sql`SELECT 1 FROM node_webhook_deliveries WHERE state <> 'succeeded' LIMIT 1`
    return left === undefined || undefined
  })

  t.test("then each node has reported every call that is over once, or again under the same id with the same bytes", async (t) => {
    const runs = await world.api.runs(id)
    const told = new Map(to.received.map((request) => [idOf(request), request]))
    const byRun = Map.groupBy(told.values(), ({ headers }) => Number(headers["x-dograh-workflow-run-id"]))
    t.strictSame([...byRun.keys()].sort(), runs.map((run) => run.id).sort())
    for (const [run, requests] of byRun) t.strictSame(requests.map(({ method }) => method).sort(), ["GET", "POST"], `run ${run}`)
    t.ok(to.received.length > told.size, "some were sent again")
    for (const request of to.received) t.equal(request.body, told.get(idOf(request))?.body)
  })

  t.test("then each body says the same about its call as the API, and its recording can be fetched", async (t) => {
    const runs = new Map((await world.api.runs(id)).map((run) => [Number(run.id), run]))
    const bodies = to.received.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body))
    for (const { call_disposition, number, run } of bodies) {
      const known = runs.get(Number(run))
      t.equal(call_disposition, known?.gathered_context?.["call_disposition"])
      t.equal(number, known?.initial_context?.["phone_number"])
    }
    const [recording] = bodies.map((body) => String(body.recording)).filter((url) => url !== "")
    // The process that rendered it may have listened on another port.
    const path = new URL(recording ?? "").pathname
    const file = await fetch(`${world.engine.url}${path}`)
    t.strictSame([file.status, file.headers.get("content-type")], [200, "audio/wav"])
  })

  t.test("then everything else is in order too", async (t) => judge(t, world, id, slots))
})
