/** The circuit breaker, judged by the callees: once it has tripped, nobody is called any more. */
import t from "tap"
import { attemptsOf, contactStates, eventsOf, numbersOf, type World as Engine, World } from "#test/support/engine.ts"

t.jobs = 2

const environment = { ORG_CONCURRENCY: "100", RECORDINGS: "off", CALL_RATE: "50" }
const noRetry = { maxRetries: 0 }
const dials = ({ emulator }: Engine) => emulator.log.count("originate")

t.test("given twenty calls at once, when one failure too many occurs, then no more calls follow", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 4000 }, environment })
  const { api, sql } = world
  const { id } = await world.campaign(
    numbersOf(200, ["13"])
      .concat(numbersOf(1, ["09"], "+1556"))
      .toReversed(),
    {
      circuit_breaker: { enabled: true, failure_threshold: 0.9, min_calls_in_window: 1, window_seconds: 120 },
      max_concurrency: 20,
      retry: noRetry
    }
  )
  await api.start(id)
  const paused = await api.untilState(id, "paused")
  const tripped = world.emulator.log.entries.find(({ kind }) => kind === "ended")?.at ?? 0
  t.equal(eventsOf(paused)["circuit_breaker_tripped"], 1)
  t.ok(dials(world) <= 20, `then only what was in flight: ${dials(world)}`)
  const late = world.emulator.log.entries.filter(({ at, kind }) => kind === "originate" && at > tripped + 500)
  t.strictSame(late, [], "then nobody is called after the end that trips it")
  const attempts = await attemptsOf(sql, id)
  t.equal(attempts.filter(({ state }) => state !== "void").length, dials(world), "then all other claims are void")
})

t.test("given a record that is slow to be written, then nobody is called before the breaker judged it", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 30 }, environment })
  const { api, sql } = world
  await sql`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$`
  await sql`CREATE TRIGGER slowly BEFORE UPDATE ON attempts FOR EACH ROW WHEN (NEW.state = 'ended') EXECUTE FUNCTION slowly()`
  const { id } = await world.campaign(numbersOf(40, ["09"]), {
    circuit_breaker: { enabled: true, failure_threshold: 0.5, min_calls_in_window: 5, window_seconds: 120 },
    max_concurrency: 1,
    retry: noRetry
  })
  await api.start(id)
  const paused = await api.untilState(id, "paused")
  t.match(paused.logs.at(-1), { event: "circuit_breaker_tripped", details: { failure_count: 5, success_count: 0 } })
  t.equal(dials(world), 5)
  t.strictSame(await contactStates(sql, id), { failed: 5, pending: 35 }, "then the other contacts are untouched")

  await api.resume(id)
  await api.untilState(id, "paused")
  t.equal(dials(world), 10, "then a resume starts a new window")
})
