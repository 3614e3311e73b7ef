/** What the operator is told when a trunk gives trouble: in the engine's log and in the campaign's, in the provider's own words. */
import t from "tap"
import { numbersOf, until, untilTrue, World } from "#test/support/engine.ts"

t.jobs = 3
const fast = { media: false, ringMillis: 200, talkMillis: 600 }
const environment = { RECORDINGS: "off", CALL_RATE: "10" }

interface Line {
  readonly level: string
  readonly message: string
  readonly [attribute: string]: unknown
}
/** The lines of the engine's log at level info or above. */
const linesOf = (world: World): ReadonlyArray<Line> =>
  world
    .output()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line)] : []))
const said = (world: World, message: string) => until(`"${message}"`, () => linesOf(world).find((line) => line.message === message))
/** Whether no line names a callee. */
const namesNobody = (world: World) => !/1555\d{4}/.test(world.output())

t.test("given a dial string that names no trunk, when a campaign starts", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: { ...fast, trunks: ["another"] }, environment })
  const { api } = world
  const { id } = await world.campaign(numbersOf(5, ["01"]))
  await api.start(id)
  const entry = await until("entry", async () => (await api.campaign(id)).logs.find(({ event }) => event === "telephony_suspect"))
  t.match(
    entry.details,
    { reason: "unreachable", detail: /^HTTP 500 Allocation failed .*\{number\}/ },
    "then its log has the refusal at once"
  )
  t.match(await said(world, "an originate was refused"), {
    level: "Warn",
    reason: "unreachable",
    detail: /^HTTP 500 Allocation failed .*\{number\}/,
    callId: String,
    campaignId: id
  })
  t.match(await said(world, "a trunk is up"), { level: "Info", provider: "ari" })
  t.match(await said(world, "a trunk does not take calls as it should"), { level: "Warn", detail: /Allocation failed/ })
  t.match(await said(world, entry.message), { level: "Warn", campaignId: id, event: "telephony_suspect" })
  const single = await api.call(world.agentUuid, "+15559990001")
  t.equal(single.status, 400)
  t.ok(namesNobody(world), "then nobody is named")
})

t.test("given an Asterisk that goes away and comes back, then the log says both", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment })
  const { api, emulator } = world
  const { id } = await world.campaign(numbersOf(1, ["01"]))
  await api.start(id)
  await api.untilState(id, "completed")
  t.equal(linesOf(world).filter(({ message }) => message === "a trunk is up").length, 1)
  emulator.dropSockets()
  t.match(await said(world, "a trunk is down: the provider cannot be reached"), { level: "Warn", reason: "unreachable", provider: "ari" })
  await untilTrue("second time up", () => linesOf(world).filter(({ message }) => message === "a trunk is up").length === 2)
  t.ok(namesNobody(world))
})
