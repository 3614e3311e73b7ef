/** A campaign as its webhook endpoint sees it, with an engine that dies in the middle, and a receiver that does not always accept requests. */
import { createHmac } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import t, { type Test } from "tap"
import { answeringServer } from "#test/support/answeringServer.ts"
import { attemptsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Undefined if the request was left without an answer. */
  readonly status: number | undefined
}
interface CloudEvent {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Responds with the status that `judge` returns for a request. Undefined: no response. */
const receiver = async (t: Test, judge: (earlier: number) => number | undefined) => {
  const received: Array<Received> = []
  const { url } = await answeringServer(t, (response, { body, headers }) => {
    const status = judge(received.length)
    received.push({ headers, body, status })
    if (status !== undefined) response.writeHead(status).end()
  })
  return { received, url: `${url}/hook` }
}

/** Verifies a signature as https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md specifies. */
const isSigned = (secret: string, { body, headers }: Received): boolean => {
  const bytes = Buffer.from(secret.replace("whsec_", ""), "base64")
  const expected = createHmac("sha256", bytes)
    .update([headers["webhook-id"], headers["webhook-timestamp"], body].join("."))
    .digest("base64")
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${expected}`)
}

// The cast holds because the receiver reads only these fields, and finds them in what it got.
const eventOf = ({ body }: Received) => JSON.parse(body) as CloudEvent
const isTaken = ({ status }: Received) => status === 200
const byId = (a: CloudEvent, b: CloudEvent) => Number(a.id) - Number(b.id)

/** Makes the next tries due, which would otherwise be minutes or hours away. */
const makeDue = ({ sql }: World) => sql`
  WITH due AS (UPDATE webhook_deliveries SET due_at = now() WHERE state = 'pending' AND due_at > now())
  UPDATE webhook_endpoints SET next_due_at = now(), version = version + 1 WHERE next_due_at > now()
  RETURNING pg_notify('trunkline_events', 'deliveries')`

t.test("given an endpoint for all events and a campaign, when the engine is killed while it delivers, and restarted", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis: 500 },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", WEBHOOK_PRIVATE_TARGETS: "on" }
  })
  const { emulator, sql } = world
  // The first three are refused, the ninth is still waiting for its answer when the engine dies, and later ones are refused from time to time.
  const held = 8
  const { received, url } = await receiver(t, (earlier) =>
    earlier === held ? undefined : earlier < 3 || (earlier > held && earlier % 6 === 0) ? 500 : 200
  )
  const registered = await world.api.ask("POST", "/organizations/webhook-endpoints", { url })
  t.equal(registered.status, 200)
  // The cast holds because it has just been registered: the answer is a webhook endpoint with its secret.
  const { id: endpointId, secret } = registered.body as { readonly id: number; readonly secret: string }

  const settings = { max_concurrency: 4, retry_config: { enabled: false } }
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(24, ["01", "02", "01", "03"]), settings)
  await world.api.start(id)
  await untilTrue("request that waits", async () => {
    if (received.length <= held) await makeDue(world)
    return received.length > held && emulator.log.count("ended") >= 4
  })
  await world.end("SIGKILL")
  t.not((await world.api.ask("GET", "/health").catch(() => undefined))?.status, 200)
  // As if the engine had been away for a while: calls in doubt are settled sooner, and its turn is over.
  await sql`UPDATE attempts SET sent_at = sent_at - interval '30 seconds' WHERE state = 'sent'`
  await sql`UPDATE webhook_endpoints SET leased_until = now()`
  await world.launch()
  await world.api.untilState(id, "completed")
  await untilTrue("deliveries of everything", async () => {
    await makeDue(world)
    const [left] =
      await sql`SELECT (SELECT count(*) FROM event_outbox) + (SELECT count(*) FROM webhook_deliveries WHERE state <> 'delivered') AS n`
    return Number(left?.["n"]) === 0
  })
  await judge(t, world, id, 4)

  const unsigned = received.filter((one) => !isSigned(secret, one))
  t.strictSame(unsigned, [], "then every request is signed")
  const misnamed = received.filter((one) => one.headers["webhook-id"] !== eventOf(one).id)
  t.strictSame(misnamed, [], "then the header names the event")
  const bodies = Map.groupBy(received, ({ headers }) => String(headers["webhook-id"]))
  const changed = [...bodies.values()].filter((same) => new Set(same.map(({ body }) => body)).size > 1)
  t.strictSame(changed, [], "then an event has the same body every time")
  t.ok((bodies.get(String(received[held]?.headers["webhook-id"]))?.length ?? 0) > 1, "then the request without an answer is sent again")
  t.ok(received.filter(({ status }) => status === 500).length > 3, "some were refused, before and after")

  const taken = received.filter(isTaken).map(eventOf)
  const events = [...new Map(taken.map((event) => [event.id, event])).values()].sort(byId)
  const attempts = await attemptsOf(sql, id)
  const ended = attempts.filter(({ state }) => state === "ended")
  const completed = events.filter(({ type }) => type === "run.completed")
  t.strictSame(
    completed.map(({ data }) => String(data["call_id"])).toSorted(),
    ended.map((attempt) => attempt.id).toSorted(),
    "then the end of every call has arrived"
  )
  t.strictSame(
    new Map(completed.map(({ data }) => [data["call_id"], data["outcome"]])),
    new Map(ended.map((attempt) => [attempt.id, attempt.outcome])),
    "then with the result of each call"
  )
  t.equal(new Set(completed.map(({ data }) => data["phone_number"])).size, 24, "then for every contact")
  const life = events.filter(({ subject }) => subject === `campaigns/${id}`)
  const steps = life.map(({ type }) => type)
  t.strictSame(steps, ["campaign.created", "campaign.started", "campaign.completed"], "then the events of the campaign's life have arrived")
  const types = events.map(({ type }) => type)
  t.ok(types.indexOf("campaign.started") < types.findIndex((type) => type.startsWith("run.")), "then no call comes before its start")
  t.equal(types.at(-1), "campaign.completed", "then no call ends after the campaign")
  const answeredLate = events.filter(
    ({ subject, type }, at) => type === "run.answered" && events.slice(0, at).some((one) => one.subject === subject)
  )
  t.strictSame(answeredLate, [], "then a call is answered before it ends")
  const deliveries = await sql`SELECT DISTINCT state FROM webhook_deliveries WHERE endpoint_id = ${endpointId}`
  t.strictSame([...deliveries], [{ state: "delivered" }])
})
