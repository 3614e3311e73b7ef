/** What a collector of traces is told about calls, requests and webhooks: where the time went, and nothing private. */
import t, { type Test } from "tap"
import { answeringServer } from "#test/support/answeringServer.ts"
import { wholeFormsOf } from "#test/support/canaryTalk.ts"
import { aloud, attemptsOf, until, World } from "#test/support/engine.ts"
import { attributeOf, type ExportedSpan, TraceCollector } from "#test/support/traceCollector.ts"

/** These callees stay on the line until the test lets them hang up, or only for a moment. */
const [answers, busy, single, brief] = ["+15550172011", "+15550172002", "+15550173011", "+15550174001"]
const contactName = "Quicksilverine"
const contactNote = "kaleidoscopic"
const collectorKey = "collector-key-platypus"
const hookToken = "hook-token-mulberry"
const clientTrace = "0af7651916cd43dd8448eb211c80319c"
const clientSpan = "b7ad6b7169203331"

/** Receives webhooks at an address with a token. */
const hook = async (t: Test) => {
  const { url } = await answeringServer(t, (response) => response.end())
  return `${url}/${hookToken}`
}

const open = async (t: Test, collector: TraceCollector, environment: Readonly<Record<string, string>> = {}) =>
  await World.open(t, {
    emulator: { ringMillis: 100, talkMillis: 300 },
    environment: {
      LOG_LEVEL: "debug",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `api-key=${collectorKey}`,
      WEBHOOK_PRIVATE_TARGETS: "on",
      ...environment
    }
  })

const createCampaign = async ({ agentId, api }: World, numbers: ReadonlyArray<string>) => {
  const rows = numbers.map((number) => `${number},${contactName},${contactNote}`)
  const source_id = await api.upload(["phone_number,first_name,note", ...rows, ""].join("\n"))
  const asked = { name: "Traced", workflow_id: agentId, source_type: "csv", source_id, retry_config: { enabled: false } }
  const answer = await api.ask("POST", "/campaign/create", asked)
  // The cast holds because a campaign that was created has an id.
  return (answer.body as { readonly id: number }).id
}

/** Requests a single call as part of a trace of the client's. */
const call = (world: World, body: object, flags: string) =>
  fetch(`${world.engine.url}/api/v1/public/agent/workflow/${world.agentUuid}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": world.apiKey, traceparent: `00-${clientTrace}-${clientSpan}-${flags}` },
    body: JSON.stringify(body)
  })

/** Lets the callee hang up once the agent can be heard. */
const hangUp = async (collector: TraceCollector, { emulator }: World, number: string, talks: number) => {
  await until("audio of a call", () => (collector.named("call.media").length >= talks ? true : undefined))
  emulator.hangUp(number)
}

/** Whether each span starts no earlier than the one before. */
const areInOrder = (spans: ReadonlyArray<ExportedSpan | undefined>): boolean =>
  spans.every((span, at) => at === 0 || BigInt(span?.startTimeUnixNano ?? 0) >= BigInt(spans[at - 1]?.startTimeUnixNano ?? 0))

t.test("given a collector, when a campaign and a single call are placed", async (t) => {
  const collector = await TraceCollector.start(t)
  const world = await open(t, collector)
  const registered = await world.api.ask("POST", "/organizations/webhook-endpoints", { url: await hook(t) })
  t.equal(registered.status, 200)
  const id = await createCampaign(world, [answers, busy])
  await world.api.start(id)
  await hangUp(collector, world, answers, 1)
  await world.api.untilState(id, "completed")
  t.equal((await call(world, { phone_number: single, initial_context: { note: contactNote } }, "01")).status, 200)
  await hangUp(collector, world, single, 2)
  // A failed request has more to report than one that succeeds.
  t.equal((await call(world, { phone_number: `${single}x` }, "01")).status, 400)
  await until("spans of all calls", () => (collector.named("call").length === 3 ? true : undefined))
  await until("span of a webhook about a single call", () =>
    collector.named("webhook.deliver").some((span) => attributeOf(span, "trunkline.event_type") === "run.completed") ? true : undefined
  )
  await world.end("SIGTERM")
  const attempts = await attemptsOf(world.sql, id)
  const spanOf = (number: string) => {
    const callId = attempts.find(({ phoneNumber }) => phoneNumber === number)?.id
    const span = collector.named("call").find((one) => attributeOf(one, "trunkline.call_id") === callId)
    if (span === undefined || callId === undefined) throw new Error("no span of the call")
    return { callId, span }
  }
  const partsOf = (span: ExportedSpan) => collector.partsOf(span).filter(({ name }) => name.startsWith("call."))

  await t.test("then the trace of a campaign's call has its id, and says where the time went", async (t) => {
    const { callId, span } = spanOf(answers)
    t.equal(span.traceId, callId.replaceAll("-", ""))
    t.equal(span.parentSpanId, undefined)
    t.equal(attributeOf(span, "trunkline.outcome"), "answered")
    t.equal(attributeOf(span, "trunkline.campaign_id"), id)
    const named = (name: string) => partsOf(span).find((part) => part.name === name)
    const steps = ["call.claim", "call.wait", "call.originate", "call.media", "call.conversation", "call.record"].map(named)
    t.notOk(steps.includes(undefined), "every step is there", { parts: partsOf(span).map(({ name }) => name) })
    t.ok(areInOrder([span, ...steps]), "one after the other")
    t.ok(BigInt(named("call.ring")?.endTimeUnixNano ?? 0) <= BigInt(named("call.media")?.endTimeUnixNano ?? 0), "it rang until the answer")
  })

  await t.test("then the trace of a busy callee ends without audio", async (t) => {
    const { span } = spanOf(busy)
    t.equal(attributeOf(span, "trunkline.outcome"), "busy")
    t.strictSame(
      partsOf(span)
        .map(({ name }) => name)
        .toSorted(),
      ["call.claim", "call.originate", "call.record", "call.ring", "call.wait"]
    )
  })

  await t.test("then the claim says how many contacts it was for, and calls are linked to it", async (t) => {
    const [link] = spanOf(answers).span.links
    const claim = collector.named("campaign.claim").find(({ spanId }) => spanId === link?.spanId)
    t.equal(attributeOf(claim ?? spanOf(answers).span, "trunkline.contacts_claimed"), 2)
  })

  await t.test("then the request for a single call is part of the client's trace, and the call part of the request", async (t) => {
    const request = collector
      .named("POST /api/v1/public/agent/workflow/:workflow_uuid")
      .find(({ parentSpanId }) => parentSpanId === clientSpan)
    const calls = collector.named("call").filter(({ traceId }) => traceId === clientTrace)
    t.match(request, { traceId: clientTrace, kind: 2 })
    t.equal(request && attributeOf(request, "http.response.status_code"), 200)
    t.equal(calls.length, 1)
    const dial = collector.named("Dialer.dial").find(({ spanId }) => spanId === calls[0]?.parentSpanId)
    t.equal(dial?.traceId, clientTrace)
    t.equal(attributeOf(calls[0] ?? spanOf(answers).span, "trunkline.outcome"), "answered")
  })

  await t.test("then the collector got its key with each request, and nothing private", async (t) => {
    t.ok(collector.received.every(({ headers, path }) => headers["api-key"] === collectorKey && path === "/v1/traces"))
    const told = collector.received.map(({ body }) => body).join()
    const secrets = [answers, busy, single].flatMap((number) => [number, number.slice(1), number.slice(2)])
    const data = [contactName, contactNote, aloud, "Traced"]
    const keys = [world.apiKey, collectorKey, hookToken, world.emulator.password]
    const places = [world.dataDir, process.cwd(), ".ts:", "127.0.0.1", "SELECT", "postgres"]
    const found = [...secrets, ...data, ...keys, ...places].flatMap(wholeFormsOf).filter((canary) => told.includes(canary))
    t.strictSame(found, [])
    t.notMatch(world.output(), new RegExp(collectorKey))
  })
})

t.test("given an engine that is killed in a call, when the next continues it, then that is in the same trace", async (t) => {
  const collector = await TraceCollector.start(t)
  const world = await open(t, collector, { CRASH_AT: "answer recorded" })
  const id = await createCampaign(world, [brief])
  await world.api.start(id)
  t.equal((await world.engine.exited).signal, "SIGKILL")
  await world.launch({ CRASH_AT: "" })
  await world.api.untilState(id, "completed")
  await until("span of the call", () => (collector.named("call").length > 0 ? true : undefined))
  const [attempt] = await attemptsOf(world.sql, id)
  const spans = collector.named("call").map((span) => [span.traceId, attributeOf(span, "trunkline.is_adopted")])
  t.strictSame(spans, [[attempt?.id.replaceAll("-", ""), true]])
})
