import t from "tap"
import { until, World } from "#test/support/engine.ts"

t.jobs = 2
const configs = "/organizations/telephony-configs"
const environment = { RECORDINGS: "off" }
const quick = { media: false, ringMillis: 100, talkMillis: 300 }

interface Check {
  readonly name: string
  readonly result: string
  readonly message: string
  readonly advice: string | null
}
interface Tested {
  readonly passed: boolean
  readonly checks: ReadonlyArray<Check>
  readonly call: { readonly status: string; readonly workflow_run_id: number | null; readonly reason: string | null } | null
}
interface Trunk {
  readonly telephony_configuration_id: number
  readonly status: string
  readonly last_test: Tested | null
}

const _idOf = (answer: { readonly body: unknown }) => (answer.body as { readonly id: number }).id // an answer of ours
/** The engine's findings, as `name: result`. */
const foundIn = (test: Tested | null) => test?.checks.map(({ name, result }) => `${name}: ${result}`)

const test = async (world: World, id: number, body: object = {}, key?: string) => {
  const response = await fetch(`${world.engine.url}/api/v1${configs}/${id}/test`, {
    method: "POST",
    headers: {
      "x-api-key": world.apiKey,
      "content-type": "application/json",
      connection: "close",
      ...(key === undefined ? {} : { "idempotency-key": key })
    },
    body: JSON.stringify(body)
  })
  const text = await response.text()
  // The cast holds because the engine builds its answers from the same types; the checks are what is tested.
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text, tested: JSON.parse(text) as Tested }
}
const trunkOf = async (world: World, id: number) => {
  const { body } = await world.api.ask("GET", "/organizations/telephony-trunks")
  return (body as { readonly trunks: ReadonlyArray<Trunk> }).trunks.find((trunk) => trunk.telephony_configuration_id === id) // as above
}
const firstConfig = async (world: World) => {
  const { body } = await world.api.ask("GET", configs)
  return (body as { readonly configurations: ReadonlyArray<{ readonly id: number }> }).configurations[0]?.id ?? 0 // as above
}
t.test("given an Asterisk that is set up correctly", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: quick, environment })
  const id = await firstConfig(world)
  const all = ["connection", "credentials", "version", "rights", "events", "modules", "media", "endpoint"].map((name) => `${name}: passed`)
  const trunk = await until("test in the background", async () => {
    const found = await trunkOf(world, id)
    return found?.last_test == null ? undefined : found
  })
  t.strictSame(
    [trunk.status, trunk.last_test?.passed, foundIn(trunk.last_test)],
    ["unused", true, all],
    "when the configuration is created, then it is tested"
  )
  const { tested, text } = await test(world, id)
  t.strictSame([tested.passed, foundIn(tested), tested.call], [true, all, null], "when it is tested, then all checks pass")
  t.notMatch(text, world.emulator.password, "then the password does not occur in the answer")
  t.equal(world.emulator.requests.length, 0, "then nobody was called")

  const call = { phone_number: "+15550000001", workflow_id: world.agentId }
  const both = await Promise.all([test(world, id, { call }, "once"), test(world, id, { call }, "once")])
  t.match(both.map(({ status }) => status).toSorted(), [200, /200|409/], "when a call is asked for twice at once")
  await world.seen("ended", 1)
  const again = await test(world, id, { call }, "once")
  t.match(again.tested.call, { status: "initiated", workflow_run_id: Number })
  const endpoints = world.emulator.requests.map(({ endpoint }) => endpoint)
  t.strictSame(endpoints, ["PJSIP/+15550000001@trunk"], "then one is placed")
  t.equal(
    (await test(world, id, { call: { ...call, phone_number: "15550000001" } }, "other")).status,
    400,
    "then the number is checked as usual"
  )
  const beside = await test(world, id)
  const isReported = beside.tested.checks.some(({ name, result }) => name === "trunk" && result === "passed")
  t.ok(isReported, "then the live trunk is reported")
  t.notMatch(world.output(), /another client took/, "then it was left alone")
})

t.test("given no Asterisk there", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: quick, environment })
  await world.emulator.refuseConnections(true)
  const id = await firstConfig(world)
  const gone = await test(world, id, { call: { phone_number: "+15550000001", workflow_id: world.agentId } }, "gone")
  t.match(gone.tested.checks, [{ name: "connection", result: "failed", message: /ECONNREFUSED/, advice: /http\.conf/ }], "then it says so")
  t.match(gone.tested.call, { status: "not_placed", workflow_run_id: null, reason: String }, "then no call is placed")
  t.equal(world.emulator.requests.length, 0)
  t.equal((await test(world, 999_999)).status, 404)
  let refused = await test(world, id)
  for (let asked = 0; asked < 10 && refused.status === 200; asked++) refused = await test(world, id)
  t.equal(refused.status, 429, "when it is tested again and again, then it is refused")
  t.ok(Number(refused.retryAfter) > 0, "then the answer says when to try again")
})
