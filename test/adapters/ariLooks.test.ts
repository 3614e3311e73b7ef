/** Lookups of calls: one by one, or together if there are many. A proxy logs the requests to Asterisk. */
import { Effect } from "effect"
import t, { type Test } from "tap"
import { fates, type HttpProxy } from "#test/support/HttpProxy.ts"
import type { CallId } from "#core/Id.ts"
import { refTo } from "#test/support/refTo.ts"
import { type Line, newCallId, numberOf } from "./Line.ts"
import { throughProxy } from "./throughProxy.ts"

const given = (name: string, test: (t: Test, proxy: HttpProxy, line: Line) => Promise<void>) =>
  t.test(`given an emulated Asterisk, ${name}`, (t) => throughProxy({}, ({ line, proxy }) => test(t, proxy, line)))

const ringing = async (line: Line, calls: number) => {
  const placed = await Promise.all(Array.from({ length: calls }, () => line.originate(numberOf("003"))))
  return placed.map(({ callId }) => callId)
}
const look = (line: Line, callIds: ReadonlyArray<CallId>) =>
  Promise.all(callIds.map((callId) => Effect.runPromise(Effect.result(line.trunk.lookup(refTo(callId))))))
/** Paths of the requests about channels that the proxy saw during `act`. */
const asked = async (proxy: HttpProxy, act: () => Promise<unknown>) => {
  const before = proxy.exchanges.length
  await act()
  return proxy.exchanges.slice(before).flatMap(({ method, path }) => (method === "GET" ? [path.replace("/ari", "")] : []))
}

given("when many calls are looked up at once, then one request is sent, and each lookup has its answer", async (t, proxy, line) => {
  const calls = await ringing(line, 40)
  const gone = newCallId()
  const paths = await asked(proxy, async () => {
    const seen = await look(line, [...calls, gone])
    t.match(seen, [
      ...calls.map(() => ({ _tag: "Success", success: { presence: "ringing" } })),
      { _tag: "Success", success: { presence: "gone" } }
    ])
  })
  t.strictSame(paths, ["/channels"])
})

given("when one call is looked up, then only that one is requested", async (t, proxy, line) => {
  const [call = newCallId()] = await ringing(line, 1)
  const paths = await asked(proxy, async () => t.match(await look(line, [call]), [{ _tag: "Success", success: { presence: "ringing" } }]))
  t.strictSame(paths, [`/channels/${call}`])
})

given("when the list cannot be read, then no lookup has an answer, and the next one has", async (t, proxy, line) => {
  const calls = await ringing(line, 10)
  proxy.befall(fates.errorAfterForwarding(), ({ method }) => method === "GET", 1)
  t.match(
    await look(line, calls),
    calls.map(() => ({ _tag: "Failure" }))
  )
  t.match(
    await look(line, calls),
    calls.map(() => ({ _tag: "Success", success: { presence: "ringing" } }))
  )
})
