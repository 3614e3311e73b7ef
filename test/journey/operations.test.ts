/** What an operator sees of a running engine: its metrics, its health, and what keeps it from being ready. */
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { aloud, placedBy, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { countOf, type Figures, growth, parse } from "#test/support/prometheus.ts"

t.jobs = 3

const fast = { media: false, ringMillis: 200, talkMillis: 600 }
const environment = { CALL_RATE: "1000", ORG_CONCURRENCY: "50", RECORDINGS: "off", TRUNK_RATE: "1000" }

const textOf = async ({ engine }: World): Promise<string> => {
  const response = await fetch(`${engine.url}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics: ${response.status}`)
  return await response.text()
}
const figuresOf = async (world: World): Promise<Figures> => parse(await textOf(world))
const statusOf = async ({ engine }: World, path: string, request: RequestInit = {}): Promise<number> =>
  (await fetch(engine.url + path, request)).status

t.test("given an engine with metrics", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment, greeting: aloud })
  const {
    api,
    apiKey,
    emulator: { log },
    sql
  } = world
  await sql`UPDATE organizations SET name = 'Zq7canary'`
  const before = await figuresOf(world)
  // Answered; busy; rejected; ringing without an answer.
  const numbers = numbersOf(14, ["01", "02", "07", "13"])
  const slots = 2
  const { id } = await world.campaign(numbers, { max_concurrency: slots, retry: { enabled: false } })

  await t.test("when a campaign calls, then each metric grows by what the callees have seen", async (t) => {
    world.emulator.letTalk(true)
    await api.start(id)
    await untilTrue("figures of a call", async () => {
      const figures = await figuresOf(world)
      return countOf(figures, "calls_live") > 0 && countOf(figures, "campaigns_running") === 1
    })
    world.emulator.letTalk(false)
    await api.untilState(id, "completed")
    await untilTrue("campaign that is over", async () => countOf(await figuresOf(world), "campaigns_running") === 0)
    const after = await figuresOf(world)
    const gauges = ["calls_live", "campaigns_running", "trunks_up", "trunks_down"].map((name) =>
      [before, after].map(({ values }) => values.get(name))
    )
    t.strictSame(gauges, [
      [0, 0],
      [0, 0],
      [0, 1],
      [0, 0]
    ])
    const outcomes = Map.groupBy(await placedBy(sql, id), ({ outcome }) => outcome)
    t.strictSame([...outcomes.keys()].toSorted(), ["answered", "busy", "failed", "no_answer"])
    const rang = numbers.filter((number) => ["01", "13"].includes(number.slice(-2))).length
    const ended = [...outcomes].map(([outcome, of]) => [`calls_ended_total{outcome="${outcome}"}`, of.length] as const)
    t.strictSame(growth(before, after, /^(calls_.*_total|post_dial.*_count|call_dur.*_count)/), {
      calls_originated_total: log.count("originate"),
      calls_answered_total: log.count("answered"),
      ...Object.fromEntries(ended),
      'post_dial_delay_seconds_count{provider="ari"}': rang,
      call_duration_seconds_count: log.count("answered")
    })
    // A slot that became free before the campaign waited for one does not count as a refill.
    const refills = growth(before, after, /^slot_.*_count/)["slot_refill_seconds_count"] ?? 0
    t.ok(refills > 0 && refills <= numbers.length - slots, `${refills} refills of ${slots} slots`)
    const told = (await api.runs(id)).reduce((sum, run) => sum + Number(run.usage_info?.["call_duration_seconds"]), 0)
    const talked = countOf(after, "call_duration_seconds_sum")
    t.ok(Math.abs(talked - told) <= 0.01 * numbers.length, `talked for as long as the runs tell: ${talked} and ${told}`)
  })

  await t.test("then the metrics contain nothing private", async (t) => {
    t.equal(await statusOf(world, "/api/v1/nowhere/+15550100001"), 404)
    const text = await textOf(world)
    t.notMatch(text, /Zq7canary/, "no name of an organization")
    t.notMatch(text, /Reminder/, "no name of a campaign or an agent")
    const digits = [...numbers.map((number) => number.slice(1)), "15550100001"]
    const found = digits.filter((number) => text.includes(number))
    t.strictSame(found, [], "no phone number")
    t.notMatch(text, new RegExp(`${apiKey}|${log.entries[0]?.channelId}`), "no key, and no call's id")
  })

  await t.test("when it is started without METRICS, then metrics are served on a local port, and not by the API", async (t) => {
    await world.end("SIGTERM")
    // Empty means unset, because `World` sets it.
    await world.launch({ METRICS: "" })
    t.equal(await statusOf(world, "/metrics"), 404)
    const figures = /Metrics for Prometheus are at (\S+)/.exec(world.engine.output())?.[1] ?? "http://none"
    t.equal(new URL(figures).hostname, "127.0.0.1")
    t.match(await (await fetch(figures)).text(), /^http_requests_total/m)
  })
})

t.test("given a trunk with a wrong password and one whose address nothing listens on", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment })
  const { agentUuid, api, emulator } = world
  const ready = () => api.ask("GET", "/health/ready")
  const trunks = () => api.ask("GET", "/organizations/telephony-trunks")
  t.strictSame(await ready(), { status: 200, body: { status: "ready", postgres: "up", redis: "not_used", trunks: [] } })

  const right = emulator.password
  emulator.setPassword("another one")
  const nowhere = await api.ask("POST", "/organizations/telephony-configs", {
    name: "nowhere",
    config: { provider: "ari", ari_endpoint: "http://127.0.0.1:1", app_name: "trunkline", app_password: "secret" }
  })
  // The cast holds because the service created it a line above.
  const unreachable = (nowhere.body as { readonly id: number }).id
  const [first] = await world.sql<Array<{ id: number }>>`SELECT id FROM telephony_configurations WHERE is_default_outbound`
  const refused = first?.id ?? 0
  const call = (telephony_configuration_id: number) =>
    api.ask("POST", `/public/agent/workflow/${agentUuid}`, { phone_number: "+15550100001", telephony_configuration_id })

  await t.test("when calls have been attempted, then both are listed with the reason, and the engine is ready", async (t) => {
    const areRefused = [await call(refused), await call(unreachable)].map(({ status }) => status >= 400)
    t.match(areRefused, [true, true])
    await untilTrue("trunks that are down", async () => JSON.stringify(await trunks()).split('"status":"down"').length === 3)
    t.strictSame(await ready(), {
      status: 200,
      body: { status: "ready", postgres: "up", redis: "not_used", trunks: [{ provider: "ari", up: 0, down: 2 }] }
    })
    const { body } = await trunks()
    t.match(body, {
      trunks: [
        { telephony_configuration_id: refused, provider: "ari", status: "down", reason: "Asterisk refused the ARI user (HTTP 401)" },
        { telephony_configuration_id: unreachable, provider: "ari", status: "down", reason: "ECONNREFUSED" }
      ]
    })
    t.notMatch(JSON.stringify(body), /secret|another one/)
    const figures = await figuresOf(world)
    t.strictSame([countOf(figures, "trunks_up"), countOf(figures, "trunks_down")], [0, 2])
  })

  await t.test("when the password is right again, then the next call finds it up", async (t) => {
    emulator.setPassword(right)
    await untilTrue("call through the repaired trunk", async () => (await call(refused)).status === 200)
    t.match((await ready()).body, { trunks: [{ provider: "ari", up: 1, down: 1 }] })
    t.match((await trunks()).body, {
      trunks: [
        { status: "up", reason: null },
        { status: "down", reason: "ECONNREFUSED" }
      ]
    })
    const figures = await figuresOf(world)
    t.strictSame([countOf(figures, "trunks_up"), countOf(figures, "trunks_down")], [1, 1])
  })
})

/** A separate Postgres that a test may stop. */
const ownPostgres = (t: Test) => {
  const folder = temporaryFolder(t)
  // Postgres does not run as root, and must be able to pass through the folder.
  chmodSync(folder, 0o711)
  let scope = Scope.makeUnsafe()
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  t.teardown(stop)
  return {
    stop,
    start: async (): Promise<string> => {
      scope = Scope.makeUnsafe()
      const layer = EmbeddedPostgres.layer({ folder: join(folder, "postgres"), fast: true })
      const context = await Effect.runPromise(Layer.buildWithScope(Layer.fresh(layer), scope))
      return Redacted.value(Context.get(context, EmbeddedPostgres).url)
    }
  }
}

t.test("given an engine on a Postgres that is stopped", { buffered: true }, async (t) => {
  const postgres = ownPostgres(t)
  const url = await postgres.start()
  const world = await World.open(t, { emulator: fast, environment: { ...environment, DATABASE_URL: url } })
  const ready = () => statusOf(world, "/api/v1/health/ready")
  t.equal(await ready(), 200)

  await postgres.stop()
  t.equal(await ready(), 503, "then it says at once that it is not ready")
  t.strictSame((await world.api.ask("GET", "/health/ready")).body, { detail: "The database does not answer" })
  t.equal(await statusOf(world, "/api/v1/health"), 200, "then it still answers requests that need no database")
  t.equal(countOf(await figuresOf(world), 'http_requests_total{method="GET",route="/api/v1/health/ready",status="503"}'), 2)

  t.equal(await postgres.start(), url)
  await untilTrue("readiness", async () => (await ready()) === 200)
  t.equal((await world.api.ask("GET", "/campaign/")).status, 200, "then it continues by itself once the database is back")
})
