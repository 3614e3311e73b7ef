/**
 * A provider that accepts requests without answering, or answers with errors: how few requests it gets, how few contacts that costs, and what
 * the campaign's log says. Judged by the requests that the emulated Asterisk has seen.
 */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import {
  attemptsOf,
  type Campaign,
  contactStates,
  eventsOf,
  judge,
  nowMillis,
  numbersOf,
  until,
  untilTrue,
  World
} from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { dialsOf } from "#test/support/neverLeft.ts"

// Most of the time is spent waiting.
t.jobs = 4

const { manifest } = ari
const fast = { media: false, ringMillis: 200, talkMillis: 600 }
const environment = { ORG_CONCURRENCY: "100", RECORDINGS: "off", CALL_RATE: "10" }

const since = ({ emulator }: World, from: number) => emulator.requests.filter(({ at }) => at >= from)
/** By the engine's own clock, between two entries of the campaign's log. */
const secondsBetween = ({ logs }: Campaign, first: string, second: string): number => {
  const at = (event: string) => Date.parse(logs.find((entry) => entry.event === event)?.ts ?? "")
  return (at(second) - at(first)) / 1000
}
/** The most requests that were sent for any one number. */
const mostForOne = (requests: ReadonlyArray<{ readonly endpoint: string }>) =>
  Math.max(...Object.values(Object.groupBy(requests, ({ endpoint }) => endpoint)).map((all) => all?.length ?? 0))

t.test("given an Asterisk that stops answering requests while its events continue", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment })
  const { api, emulator } = world
  // Many more than are risked, and than a slow machine calls before Asterisk is stuck.
  const { id } = await world.campaign(numbersOf(100, ["01"]), { circuit_breaker: { enabled: false } })
  await api.start(id)
  await world.seen("ended", 5)
  emulator.setResponseFault("hang-before-placing")
  const stuckAt = nowMillis()
  const lateness = watchLateness()

  await until("log entry that it is suspect", async () => eventsOf(await api.campaign(id))["telephony_suspect"])
  const suspectAt = nowMillis()
  const number = "+15559990001"
  const single = await api.call(world.agentUuid, number)
  t.equal(single.status, 400, "then a single call is refused")
  t.match(JSON.stringify(single.body), /try again in \d+ s/, "then it is told when to try again")
  t.strictSame(
    emulator.requests.filter(({ endpoint }) => endpoint.includes(number)),
    [],
    "then the answer comes at once, without a request to wait for"
  )

  const paused = await api.untilState(id, "paused")
  const seconds = secondsBetween(paused, "telephony_suspect", "telephony_unreachable")
  t.match(paused.logs.at(-1), { event: "telephony_unreachable", level: "error" }, "then it is paused, and says why")
  t.ok(seconds > 120 && seconds < lateness.allow(175), `then it is after about 135 s: ${seconds.toFixed(1)}`)
  t.match(eventsOf(paused), { telephony_suspect: 1 }, "then the log has said once that it is suspect")
  // The number that the trunk lets wait at once, a few that replace the first ones in doubt, and the probes.
  t.ok(since(world, stuckAt).length <= 20, `then few contacts are risked: ${since(world, stuckAt).length}`)
  // Requests that were on their way when it became suspect are not probes. The first probe may have had to wait for them.
  const probes = since(world, suspectAt + lateness.allow(1000)).map(({ at }) => at)
  t.ok(
    probes.every((at, index) => index === 0 || at - (probes[index - 1] ?? 0) >= 19_000),
    `then one at a time tries it, ever later: ${probes.map((at) => Math.round(at - suspectAt)).join(", ")}`
  )

  emulator.setResponseFault("none")
  await api.resume(id)
  await api.untilState(id, "completed")
  const states = await contactStates(world.sql, id)
  t.ok((states["failed"] ?? 0) <= 20 && (states["completed"] ?? 0) >= 80, `then everybody else is called: ${JSON.stringify(states)}`)
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
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
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
  t.ok(
    lives.every(({ by, millis }) => by === "us" && millis < lateness.allow(5000)),
    `then each of them is hung up within 5 s: ${lives.map(({ by, millis }) => `${millis} ms by ${by}`).join(", ")}`
  )
  t.strictSame(
    dialsOf(world)
      .map(({ number }) => number)
      .toSorted(),
    [...numbers].toSorted(),
    "then everybody is called once"
  )
  // These are the only calls in excess. They have kept their slots, so that the cap is not exceeded.
  await judge(t, world, id, cap)
})

t.test("given an Asterisk that is stuck for a while", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment })
  const { api, emulator } = world
  const { id } = await world.campaign(numbersOf(80, ["01"]), { circuit_breaker: { enabled: false } })
  await api.start(id)
  await world.seen("ended", 5)
  emulator.setResponseFault("hang-before-placing")
  await until("log entry that it is suspect", async () => eventsOf(await api.campaign(id))["telephony_suspect"])
  emulator.setResponseFault("none")
  const done = await api.untilState(id, "completed")
  t.match(eventsOf(done), { telephony_recovered: 1, telephony_suspect: 1 }, "then it continues by itself, and the log says both")
  t.equal(Math.max(...emulator.log.dialsByNumber().values()), 1, "then nobody is called twice")
})

const errors = [
  { fault: "503", retryAfter: undefined },
  { fault: "429", retryAfter: 7 }
] as const
for (const { fault, retryAfter } of errors) {
  const asks = retryAfter === undefined ? "" : ` and asks for ${retryAfter} s`
  t.test(`given a provider that answers ${fault}${asks}, again and again`, { buffered: true }, async (t) => {
    const world = await World.open(t, { emulator: fast, environment })
    const { api, emulator } = world
    const { id } = await world.campaign(numbersOf(300, ["01"]), { circuit_breaker: { enabled: false } })
    emulator.setResponseFault(fault, Infinity, retryAfter)
    const lateness = watchLateness()
    await api.start(id)
    const paused = await api.untilState(id, "paused")
    const seconds = secondsBetween(paused, "campaign_started", "telephony_unreachable")
    t.match(paused.logs.at(-1), { event: "telephony_unreachable", level: "error" }, "then it is paused, and says why")
    t.ok(seconds > 120 && seconds < lateness.allow(175), `then it is after about 135 s: ${seconds.toFixed(1)}`)
    t.equal(eventsOf(paused)["telephony_suspect"], 1, "then the log has said so once")
    const requests = emulator.requests
    const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0))
    // The provider may have noticed the earlier of two requests late.
    const leastGap = 1000 * (retryAfter ?? 5) - 50 - lateness.worst()
    // Several are on their way before the first answer. From the first pause on, each request is sent alone.
    const firstProbe = gaps.findIndex((gap) => gap >= leastGap)
    const probes = gaps.length - firstProbe
    t.ok(probes >= 4 && probes <= 6, `then it gets requests rarely: ${probes} times after ${requests.length - probes} at once`)
    t.ok(
      requests.length - probes <= manifest.originatesInFlight,
      "then at most the number allowed in flight are on their way when it starts"
    )
    t.ok(mostForOne(requests) <= 7, `then no number is requested again and again: ${mostForOne(requests)}`)
    t.ok(
      gaps.slice(firstProbe).every((gap) => gap >= leastGap),
      `then it gets no request sooner than it wants: ${gaps.map(Math.round).join(", ")}`
    )
  })
}

t.test(
  "given a provider that refuses every call in unknown words, then no number is asked for twice before the pause",
  { buffered: true },
  async (t) => {
    const world = await World.open(t, { emulator: fast, environment: { ...environment, CALL_RATE: "50" } })
    const { api, emulator } = world
    const { id } = await world.campaign(numbersOf(100, ["01"]), { max_concurrency: 2 })
    emulator.setResponseFault("400")
    await api.start(id)
    const paused = await api.untilState(id, "paused")
    t.match(paused.logs.at(-1), { event: "telephony_configuration_unavailable" }, "then it is paused, and says why")
    t.equal(mostForOne(emulator.requests), 1)
    t.ok(emulator.requests.length <= 4, `then only three numbers, and what was in flight, had been asked for: ${emulator.requests.length}`)
    // Requests that were in flight are taken back after the pause.
    await untilTrue("every contact to be pending again", async () => (await contactStates(world.sql, id))["pending"] === 100)
  }
)
