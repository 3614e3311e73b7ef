import { Effect, Layer } from "effect"
import t from "tap"
import { CallState } from "#core/call/Call.ts"
import { Histogram } from "#core/Histogram.ts"
import { CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { Config } from "#runtime/config/config.ts"
import { metricsText, type Sources } from "#runtime/metrics/metrics.ts"
import { CurrentSpeechMetrics, SpeechMetrics } from "#runtime/metrics/SpeechMetrics.ts"
import { CurrentWebhookMetrics, WebhookMetrics } from "#runtime/metrics/WebhookMetrics.ts"
import { PoolUse, PoolUses } from "#runtime/postgres/PoolUse.ts"
import { Redis, type RedisService } from "#runtime/redis/Redis.ts"
import { histogram, textOf } from "#runtime/metrics/prometheusText.ts"
import { growth, parse, countOf } from "#test/support/prometheus.ts"

const { Closing, Dialing, Ended, Ringing, Up, Void } = CallState.cases
const looks = { missed: 0, silences: 0 }
const dialing = Dialing.make({ request: "inFlight", giveUpAt: 90_000, ...looks })
const ringing = Ringing.make({ giveUpAt: 90_000, ...looks })
const up = Up.make({ answeredAt: 4000 })

const pools = { engine: new PoolUse(), requests: new PoolUse() }
const seconds = new Histogram([0.01, 0.1])
for (const value of [0.004, 0.01, 0.05, 7]) seconds.observe(value)
const speech = new SpeechMetrics()
speech.pools.set("flite", { running: () => 1, waiting: () => 12 })
speech.pools.set("pocketsphinx", { running: () => 0, waiting: () => 0 })
const sources: Sources = {
  decider: () => ({ callNodes: { calls: 2, heard: 1 }, isHeld: true, isTakeover: false, runningCampaigns: 2, seconds: 61 }),
  liveCalls: () => 3,
  media: () => ({ placed: 12, streams: 7, limit: 150, framesLate: 9 }),
  trunks: () => [true, false, true],
  endpoints: () => [true, false, false],
  routes: () => [
    {
      method: "GET",
      route: "/api/v1/campaign/:campaign_id",
      answers: [
        [200, 5],
        [404, 1]
      ],
      seconds
    },
    { method: "GET", route: "/api/v1/health", answers: [[200, 9]], seconds: new Histogram([1]) }
  ]
}
const withoutRedis = Effect.runSync(Redis)
const told = <A, E>(
  environment: Readonly<Record<string, string>>,
  read: (figures: Effect.Effect<string> | undefined) => Effect.Effect<A, E>,
  calls = new CallMetrics(),
  webhooks = new WebhookMetrics(),
  redis: RedisService = withoutRedis
) =>
  Effect.flatMap(metricsText(sources), read).pipe(
    Effect.scoped,
    Effect.provide([
      Layer.succeed(PoolUses, pools),
      Layer.succeed(CurrentCallMetrics, calls),
      Layer.succeed(CurrentWebhookMetrics, webhooks),
      Layer.succeed(CurrentSpeechMetrics, speech),
      Layer.succeed(Redis, redis),
      Config.layerOf(environment)
    ]),
    Effect.runPromise
  )
const read = async (calls = new CallMetrics(), webhooks = new WebhookMetrics()) =>
  parse(await told({}, (figures) => figures ?? Effect.succeed(""), calls, webhooks))

t.test("given metrics, when they are read, then there are values for calls, connections and the process", async (t) => {
  const text = await told({}, (figures) => {
    // One statement has a connection, and another one waits for it.
    const waiting = pools.engine.counted(() => figures ?? Effect.succeed(""))
    return pools.engine.counted((lent) => Effect.andThen(Effect.sync(lent), waiting))
  })
  const figures = parse(text)
  t.strictSame([pools.engine.running, pools.engine.waiting], [0, 0])
  const expected = {
    'postgres_statements_running{pool="engine"}': 1,
    'postgres_statements_waiting{pool="engine"}': 1,
    'postgres_statements_running{pool="requests"}': 0,
    engine_lock_held: 1,
    engine_lock_seconds: 61,
    engine_took_over: 0,
    calls_live: 3,
    call_nodes_connected: 1,
    calls_on_call_nodes: 2,
    campaigns_running: 2,
    trunks_up: 2,
    trunks_down: 1,
    trunk_endpoints_up: 1,
    trunk_endpoints_down: 2,
    'speech_jobs_running{pool="flite"}': 1,
    'speech_jobs_waiting{pool="flite"}': 12,
    'speech_jobs_running{pool="pocketsphinx"}': 0,
    // What has not happened yet is there, with 0.
    calls_originated_total: 0,
    'calls_ended_total{outcome="no_answer"}': 0
  }
  t.strictSame(Object.fromEntries(Object.keys(expected).map((name) => [name, figures.values.get(name)])), expected)
  t.ok(countOf(figures, "process_resident_memory_bytes") > 1e6)
  t.ok(countOf(figures, "process_cpu_seconds_total") > 0)
  t.ok(figures.values.has('event_loop_delay_seconds{quantile="0.99"}'))
})

t.test("given answers of routes, when metrics are read, then each is counted by method, pattern and status", async (t) => {
  const figures = await read()
  const route = 'method="GET",route="/api/v1/campaign/:campaign_id"'
  t.strictSame(growth({ types: new Map(), values: new Map() }, figures, /^http_/), {
    [`http_requests_total{${route},status="200"}`]: 5,
    [`http_requests_total{${route},status="404"}`]: 1,
    'http_requests_total{method="GET",route="/api/v1/health",status="200"}': 9,
    [`http_request_duration_seconds_bucket{${route},le="0.01"}`]: 2,
    [`http_request_duration_seconds_bucket{${route},le="0.1"}`]: 3,
    [`http_request_duration_seconds_bucket{${route},le="+Inf"}`]: 4,
    [`http_request_duration_seconds_sum{${route}}`]: 7.064,
    [`http_request_duration_seconds_count{${route}}`]: 4
  })
})

/** By how much values grow. */
const grows = (
  title: string,
  which: RegExp,
  act: (calls: CallMetrics, webhooks: WebhookMetrics) => void,
  expected: Readonly<Record<string, number>>
) =>
  t.test(title, async (t) => {
    const [calls, webhooks] = [new CallMetrics(), new WebhookMetrics()]
    const before = await read(calls, webhooks)
    act(calls, webhooks)
    t.strictSame(growth(before, await read(calls, webhooks), which), expected)
  })

const moves = (what: string, states: ReadonlyArray<CallState>, expected: Readonly<Record<string, number>>, sentAt?: number) =>
  grows(
    `given a call that is ${what}, then its outcome is counted once`,
    /^(calls_(answered|ended)|(post_dial|call_dur).*_(sum|count))/,
    (calls) => {
      for (const [at, state] of states.entries()) calls.moved("acme", sentAt, states[at - 1] ?? state, state, 2500)
    },
    expected
  )
const ended = (more: { readonly answeredAt?: number } = {}) => Ended.make({ cause: "normal_clearing", endedAt: 16_500, ...more })
const delay = { 'post_dial_delay_seconds_sum{provider="acme"}': 1.5, 'post_dial_delay_seconds_count{provider="acme"}': 1 }
const duration = { call_duration_seconds_sum: 12.5, call_duration_seconds_count: 1 }
const answered = { calls_answered_total: 1, 'calls_ended_total{outcome="answered"}': 1, ...duration }
const voicemail = { 'calls_ended_total{outcome="voicemail"}': 1, ...duration }
const closing = Closing.make({ cause: "machine_detected", request: "placed", answeredAt: 4000, ...looks })
const hangingUp = Closing.make({ cause: "ring_timeout", request: "placed", ...looks })
const machine = Ended.make({ answeredAt: 4000, cause: "machine_detected", endedAt: 16_500 })
const rung = [dialing, dialing, ringing, ringing, up, up, ended({ answeredAt: 4000 })]
moves("answered after it rang", rung, { ...delay, ...answered }, 1000)
moves("answered at once", [dialing, up, ended({ answeredAt: 4000 })], { ...delay, ...answered }, 1000)
moves("sent by another process", [dialing, up, ended({ answeredAt: 4000 })], answered)
moves("over before it rang", [dialing, ended()], { 'calls_ended_total{outcome="no_answer"}': 1 }, 1000)
moves("never placed", [dialing, Void.make({ at: 2, reason: "unreachable" })], {}, 1000)
moves("answered by a machine", [up, closing, machine], voicemail)
moves("answered while it was hung up", [hangingUp, closing, machine], { calls_answered_total: 1, ...voicemail })

grows(
  "given frames and greetings that callees have not heard, then each has its value",
  /^(media_frames_(sent|skipped)|greetings_missed)_total/,
  (calls) => void Object.assign(calls, { framesSent: 40, framesSkipped: 3, greetingsMissed: 2 }),
  { greetings_missed_total: 2, media_frames_sent_total: 40, media_frames_skipped_total: 3 }
)
grows(
  "given sockets for audio, then they are counted by provider",
  /^media_socket/,
  (calls) => {
    Object.assign(calls.socketsOf("acme"), { dropped: 7, forged: 1, open: 2, strayed: 3 })
    calls.socketsOf().forged++
  },
  {
    'media_sockets_open{provider="acme"}': 2,
    'media_sockets_refused_total{provider="acme",reason="forged"}': 1,
    'media_sockets_refused_total{provider="acme",reason="no_call"}': 3,
    'media_sockets_refused_total{provider="unknown",reason="forged"}': 1,
    'media_socket_frames_dropped_total{provider="acme"}': 7
  }
)
grows(
  "given tries to deliver webhooks, then they are counted by result, and a try that is repeated counts as failed",
  /webhook/,
  (_, webhooks) => {
    for (const state of ["delivered", "pending", "dead", "delivered"] as const) webhooks.endpoints.count(state)
    for (const state of ["succeeded", "pending", "dead_letter"] as const) webhooks.nodes.count(state)
  },
  {
    'webhook_deliveries_total{result="delivered"}': 2,
    'webhook_deliveries_total{result="failed"}': 1,
    'webhook_deliveries_total{result="dead"}': 1,
    'node_webhook_deliveries_total{result="succeeded"}': 1,
    'node_webhook_deliveries_total{result="failed"}': 1,
    'node_webhook_deliveries_total{result="dead_letter"}': 1
  }
)

t.test("given a label with special characters, then they are escaped", async (t) => {
  const figures = parse(textOf(histogram("x_seconds", "X", [[{ of: 'a"\\\n' }, seconds]])))
  t.equal(figures.values.get('x_seconds_bucket{of="a\\"\\\\\\n",le="0.01"}'), 2, "and a bucket includes its own bound")
  t.equal(figures.values.get('x_seconds_count{of="a\\"\\\\\\n"}'), 4)
})

t.test("given a Redis, when metrics are read, then they say whether it works", async (t) => {
  const redisIn = async (state: ReturnType<RedisService["state"]>) => {
    const redis = { ...withoutRedis, counts: { commandsFailed: 4, reconnects: 2 }, state: () => state }
    const figures = parse(await told({}, (text) => text ?? Effect.succeed(""), undefined, undefined, redis))
    return ["redis_up", "redis_commands_failed_total", "redis_reconnects_total"].map((name) => figures.values.get(name))
  }
  t.strictSame(await redisIn({ _tag: "Up" }), [1, 4, 2])
  t.strictSame(await redisIn({ _tag: "Down", since: 0, why: "away" }), [0, 4, 2])
  t.strictSame(await redisIn({ _tag: "Off" }), [undefined, 4, 2])
})

t.test("given METRICS=off, when metrics are read, then there are none", async (t) => {
  t.equal(await told({ METRICS: "off" }, (figures) => Effect.succeed(figures)), undefined)
})
