/** One phone, one call: the same people on several lists, and a single call to one of them. Judged by their phones. */
import t, { type Test } from "tap"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { contactStates, numbersOf, recounted, shownCounters, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"

/** The numbers that were in two calls at the same time. */
const twiceAtOnce = (entries: ReadonlyArray<CalleeEntry>): ReadonlyArray<string> => {
  const live = new Map<string, Set<string>>()
  const twice = new Set<string>()
  for (const { channelId, kind, number } of entries) {
    const calls = live.get(number) ?? new Set()
    live.set(number, calls)
    if (kind === "originate") calls.add(channelId)
    if (kind === "ended") calls.delete(channelId)
    if (calls.size > 1) twice.add(number)
  }
  return [...twice]
}
const open = (t: Test) =>
  World.open(t, {
    emulator: { media: false, ringMillis: 500, talkMillis: 2000 },
    environment: { CALL_RATE: "1000", ORG_CONCURRENCY: "50", RECORDINGS: "off", TRUNK_RATE: "1000" }
  })

const call = async (world: World, number: string, key: string) => {
  const response = await fetch(`${world.engine.url}/api/v1/public/agent/workflow/${world.agentUuid}`, {
    body: JSON.stringify({ phone_number: number }),
    headers: { "content-type": "application/json", "idempotency-key": key, "x-api-key": world.apiKey },
    method: "POST"
  })
  // The cast holds because each answer of this API is an object.
  return { body: (await response.json()) as Readonly<Record<string, unknown>>, status: response.status }
}

const thenItIsDone = async (t: Test, { api, sql }: World, id: number) => {
  const states = Object.keys(await contactStates(sql, id))
  const undone = states.filter((state) => state !== "completed" && state !== "failed")
  t.strictSame(undone, [], "every contact is done")
  t.strictSame(await shownCounters(api, id), await recounted(sql, id), "counters are what a recount gives")
}

t.test("given people who are on the lists of three campaigns", async (t) => {
  const world = await open(t)
  const lateness = watchLateness()
  const { api, emulator, sql } = world
  const numbers = numbersOf(20, ["01"])
  const campaigns = [await world.campaign(numbers), await world.campaign(numbers.toReversed()), await world.campaign(numbers)]
  const [first = ""] = numbers

  await t.test(
    "when all of them dial, and a single call to one of these people is requested, then it is refused, with the reason",
    async (t) => {
      emulator.letTalk(true)
      await Promise.all(campaigns.map(({ id }) => api.start(id)))
      await untilTrue("call to the first", () => emulator.log.of(first).length > 0)
      const refused = await call(world, first, "by hand")
      t.equal(refused.status, 409)
      t.match(refused.body, { detail: /phone number is in another call/ })
      emulator.letTalk(false)
    }
  )

  await t.test("then all of them are called for each campaign, and no phone rings for two at once", async (t) => {
    for (const { id } of campaigns) await api.untilState(id, "completed")
    await untilTrue("end of all calls", () => emulator.log.live() === 0)
    t.strictSame(twiceAtOnce(emulator.log.entries), [])
    t.strictSame(new Map([...emulator.log.dialsByNumber()].toSorted()), new Map(numbers.map((number) => [number, 3] as const).toSorted()))
    for (const { id } of campaigns) await thenItIsDone(t, world, id)
    t.notOk(world.output().includes("contacts waited for numbers"), "nobody had to be found by the sweep")
    t.notOk(world.output().includes("slept although"), "nor any campaign woken by it")
  })

  await t.test("then those who waited were called as soon as the phone was free", async (t) => {
    const gaps = numbers.flatMap((number) => {
      const own = emulator.log.of(number)
      return own.flatMap((entry, at) => (entry.kind === "originate" && at > 0 ? [entry.at - (own[at - 1]?.at ?? 0)] : []))
    })
    const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0
    t.comment({ median, slowest: Math.max(...gaps) })
    // The sweep would find them too, but runs only every thirty seconds.
    t.ok(median < lateness.allow(5000), `${median} ms`)
  })

  await t.test("when the single call is requested again, with the same key, then it is placed", async (t) => {
    t.match(await call(world, first, "by hand"), { status: 200 })
    const other = await world.campaign([first])
    await api.start(other.id)
    t.equal((await call(world, first, "another")).status, 409)
    await api.untilState(other.id, "completed")
    t.strictSame(twiceAtOnce(emulator.log.entries), [])
    t.equal(emulator.log.dialsByNumber().get(first), 5)
    const [left] = await sql`SELECT count(*)::int AS count FROM attempts WHERE holds_number`
    t.strictSame(left, { count: 0 })
  })
})

t.test(
  "given a proxy that holds a request, when Asterisk is restarted and then gets it, then the phone is not in another call",
  { buffered: true },
  async (t) => {
    let proxy: HttpProxy | undefined
    t.teardown(() => proxy?.stop())
    const world = await World.open(t, {
      emulator: { media: false, ringMillis: 500, talkMillis: 2000 },
      environment: { RECORDINGS: "off", RING_TIMEOUT: "15" },
      ways: { asterisk: async (url) => (proxy = await HttpProxy.start(url)).url }
    })
    const { api, emulator, sql } = world
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const isOriginate = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === "POST" && path.startsWith("/ari/channels?")
    proxy?.befall(fates.errorThenForwarded(504, released), isOriginate, 1)
    const originates = () => (proxy?.exchanges ?? []).filter(isOriginate)
    const numbers = numbersOf(1, ["01"])
    const first = await world.campaign(numbers, { circuit_breaker: { enabled: false } })
    const second = await world.campaign(numbers)
    emulator.letTalk(true)

    await api.start(first.id)
    await untilTrue("request that is held", () => originates().length === 1)
    await api.start(second.id)
    await untilTrue("call that is written off", async () => (await contactStates(sql, first.id))["failed"] === 1)
    emulator.crash()
    // The next call, or the request that proves that the first one will not come.
    await untilTrue("another request", () => originates().length > 1)
    release()
    await untilTrue("the first call", () => emulator.log.of(numbers[0] ?? "").length > 0)
    emulator.letTalk(false)
    for (const { id } of [first, second]) await api.untilState(id, "completed")
    await untilTrue("end of all calls", () => emulator.log.live() === 0)
    t.strictSame(twiceAtOnce(emulator.log.entries), [])
    t.strictSame([...emulator.log.dialsByNumber().values()], [2], "and it is called for the second campaign afterwards")
  }
)
