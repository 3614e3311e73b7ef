/**
 * A provider that accepts requests without answering: how few requests it gets, how few contacts that costs, and what the campaign's log says. Judged by
 * the requests that the emulated Asterisk has seen.
 */
import t from "tap"
import { attemptsOf, contactStates, eventsOf, judge, nowMillis, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { dialsOf, numbersDialed } from "#test/support/neverLeft.ts"

// Most of the time is spent waiting.
t.jobs = 2

const fast = { media: false, ringMillis: 200, talkMillis: 600 }
const environment = { ORG_CONCURRENCY: "100", RECORDINGS: "off", CALL_RATE: "10" }

const since = ({ emulator }: World, from: number) => emulator.requests.filter(({ at }) => at >= from)
t.test("given an Asterisk that stops answering requests while its events continue", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment: { ...environment, PACED: "on" } })
  const { api, emulator } = world
  // Many more than are risked, and than a slow machine calls before Asterisk is stuck.
  const { id } = await world.campaign(numbersOf(60, ["01"]), { circuit_breaker: { enabled: false } })
  await api.start(id)
  await world.seen("ended", 5)
  emulator.setResponseFault("hang-before-placing")
  const stuckAt = nowMillis()
  await world.engine.forward(16_000)
  await until("log entry that it is suspect", async () => eventsOf(await api.campaign(id))["telephony_suspect"])
  const number = "+15559990001"
  const single = await api.call(world.agentUuid, number)
  t.equal(single.status, 400, "then a single call is refused")
  t.match(JSON.stringify(single.body), /try again in \d+ s/, "then it is told when to try again")
  const placed = emulator.requests.filter(({ endpoint }) => endpoint.includes(number))
  t.strictSame(placed, [], "then the answer comes at once, without a request to wait for")

  await world.engine.forward(100_000)
  t.equal((await api.campaign(id)).state, "running", "then it is not paused after 100 s")
  await world.engine.forward(40_000)
  const paused = await api.untilState(id, "paused")
  t.match(paused.logs.at(-1), { event: "telephony_unreachable", level: "error" }, "then it is paused, and says why")
  t.match(eventsOf(paused), { telephony_suspect: 1 }, "then the log has said once that it is suspect")
  // The number that the trunk lets wait at once, a few that replace the first ones in doubt, and the probes.
  t.ok(since(world, stuckAt).length <= 20, `then few contacts are risked: ${since(world, stuckAt).length}`)
  emulator.setResponseFault("none")
  await api.resume(id)
  await api.untilState(id, "completed")
  const states = await contactStates(world.sql, id)
  t.ok((states["failed"] ?? 0) <= 20 && (states["completed"] ?? 0) >= 40, `then everybody else is called: ${JSON.stringify(states)}`)
  t.equal(Math.max(...emulator.log.dialsByNumber().values()), 1, "then nobody is called twice")
})

t.test("given an Asterisk that is stuck for two minutes, when it then carries out all requests", { buffered: true }, async (t) => {
  const proxies: Array<HttpProxy> = []
  t.teardown(() => Promise.all(proxies.map((proxy) => proxy.stop())))
  const cap = 5
  const world = await World.open(t, {
    configurations: { max_call_duration: 3 },
    emulator: fast,
    environment: { ...environment, PACED: "on" },
    ways: {
      asterisk: async (url) => {
        const proxy = await HttpProxy.start(url)
        proxies.push(proxy)
        return proxy.url
      }
    }
  })
  const { api, emulator, sql } = world
  const numbers = numbersOf(40, ["11"])
  const { id } = await world.campaign(numbers, { circuit_breaker: { enabled: false }, max_concurrency: cap })
  await api.start(id)
  await world.seen("ended", cap)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  for (const proxy of proxies)
    proxy.befall(fates.holdUntil(released), ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"))
  await world.engine.forward(120_000)

  const writtenOff = new Set((await attemptsOf(sql, id)).flatMap((attempt) => (attempt.outcome === "unknown" ? [attempt.id] : [])))
  t.ok(writtenOff.size > 0, `then some are written off: ${writtenOff.size}`)
  const lateness = watchLateness()
  release()
  for (const proxy of proxies) proxy.befall(fates.pass, () => true)
  const lateDials = () => dialsOf(world).filter(({ channelId }) => writtenOff.has(channelId))
  await untilTrue("late calls", () => lateDials().length === writtenOff.size)
  await api.ask("POST", `/campaign/${id}/resume`) // It may have been paused by then.
  await api.untilState(id, "completed")
  const { log } = emulator
  const lives = lateDials().map(({ at, channelId }) => {
    const end = log.entries.find((entry) => entry.kind === "ended" && entry.channelId === channelId)
    return { by: end?.by, millis: Math.round((end?.at ?? Number.POSITIVE_INFINITY) - at) }
  })
  const areShort = lives.every(({ by, millis }) => by === "us" && millis < lateness.allow(5000))
  t.ok(areShort, `then each of them is hung up within 5 s: ${lives.map(({ by, millis }) => `${millis} ms by ${by}`).join(", ")}`)
  t.strictSame(numbersDialed(world), [...numbers].toSorted(), "then everybody is called once")
  // These are the only calls in excess. They have kept their slots, so that the cap is not exceeded.
  await judge(t, world, id, cap)
})
