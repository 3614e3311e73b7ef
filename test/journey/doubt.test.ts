/** An ingress in front of Asterisk answers in its place, and Asterisk places the call later. Nobody is called twice because of that. */
import t from "tap"
import { judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"

t.jobs = 3

/** Longer than an engine that took such an answer for proof would wait. */
const LATE_MILLIS = 14_000

for (const fate of [
  fates.errorThenForwarded(503, LATE_MILLIS),
  fates.errorThenForwarded(504, LATE_MILLIS),
  fates.resetThenForwarded(LATE_MILLIS)
]) {
  t.test(`given an originate that befalls "${fate.name}"`, { buffered: true }, async (t) => {
    const proxies: Array<HttpProxy> = []
    t.teardown(() => Promise.all(proxies.map((proxy) => proxy.stop())))
    const world = await World.open(t, {
      emulator: { media: false, ringMillis: 300, talkMillis: 1_000 },
      environment: { ORG_CONCURRENCY: "5", RECORDINGS: "off" },
      ways: {
        asterisk: async (url) => {
          const proxy = await HttpProxy.start(url)
          proxy.befall(fate, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), 1)
          proxies.push(proxy)
          return proxy.url
        }
      }
    })
    const { id } = await world.campaign(numbersOf(1, ["01"]))
    await world.api.start(id)
    await world.api.untilState(id, "completed")
    // An engine that took the answer for a refusal would be done long before Asterisk has placed the first call.
    const isLate = ({ answeredAt, fate: befell }: HttpProxy["exchanges"][number]) => befell === fate.name && answeredAt !== undefined
    await untilTrue("the request that came late", () => proxies.some(({ exchanges }) => exchanges.some(isLate)))
    await untilTrue("end of all calls", () => world.emulator.log.live() === 0)
    t.strictSame([...world.emulator.log.dialsByNumber().values()], [1], "then the callee was called once")
    t.equal(world.emulator.log.count("answered"), 1, "and talked to")
    await judge(t, world, id, 5)
  })
}
