/** Where a webhook may be sent: whatever an address says and whatever its name resolves to, nothing reaches a server on this machine. */
import { Deferred, Effect, Layer } from "effect"
import t, { type Test } from "tap"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import { tcpListener } from "#test/security/listeners.ts"
import { egress, resolving } from "#test/support/egress.ts"
import { until } from "#test/support/engine.ts"
import { runLive } from "#test/support/run.ts"

/** Counted as public, but not assigned: https://www.iana.org/assignments/ipv6-unicast-address-assignments */
const nobodys = "3000::1"

/** A server on this machine, on all its addresses, and how many clients have connected to it. */
const insider = (t: Test) => tcpListener(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

const sending = (layer: Layer.Layer<WebhookSender>) => (url: string) =>
  WebhookSender.use((_) => _.send({ url, headers: {}, body: "{}" })).pipe(
    Effect.map(({ status }) => String(status)),
    Effect.catchTag("NoAnswer", ({ reason }) => Effect.succeed(reason)),
    Effect.provide(layer)
  )

const senderOf = (answers: ReadonlyArray<ReadonlyArray<string>>, privateTargets = false) => {
  const { asked, layer } = resolving(...answers)
  const policy = egress({ privateWebhooks: privateTargets })
  return { asked, send: sending(WebhookSender.layer.pipe(Layer.provide(policy), Layer.provide(layer))) }
}

const loopback = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1."]
const mapped = [
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:7f00:0001]",
  "[64:ff9b::7f00:1]",
  "[::127.0.0.1]"
]
const others = ["0.0.0.0", "0", "0x0", "10.0.0.1", "169.254.169.254", "[fe80::1]", "[fc00::1]", "１２７.0.0.1"]
const names = ["localhost", "localhost.", "LOCALHOST", "a.localhost.", "db.internal", "printer.local."]

t.test("given this machine or one nearby, by its number or a name that is not even looked up, then no connection is made", async (t) => {
  const { port, seen } = await insider(t)
  const { asked, send } = senderOf([["127.0.0.1"]])
  for (const host of [...loopback, ...mapped, ...others, ...names]) {
    t.equal(await runLive(send(`http://${host}:${port}/`)), "address_not_public", host)
  }
  t.strictSame(asked, [])
  t.equal(seen.count, 0)
})

t.test("given a name, when all its addresses are inside, then no connection is made", async (t) => {
  const { port, seen } = await insider(t)
  const inside = ["127.0.0.1", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1", "fe80::1%lo", "10.1.2.3"]
  for (const address of inside) {
    const { asked, send } = senderOf([[address]])
    t.equal(await runLive(send(`http://hooks.example.com.:${port}/`)), "no_public_address", address)
    t.strictSame(asked, ["hooks.example.com."])
  }
  const { send } = senderOf([inside])
  t.equal(await runLive(send(`http://hooks.example.com:${port}/`)), "no_public_address")
  t.equal(seen.count, 0)
})

/** Sends, and gives up as soon as the name has been looked up and the expected connection has been made. */
const sendUntilLookedUp = async (answers: ReadonlyArray<ReadonlyArray<string>>, port: number, isKnocked: () => boolean) => {
  const { asked, send } = senderOf(answers)
  const stop = Deferred.makeUnsafe<void>()
  const sent = runLive(Effect.raceFirst(send(`http://hooks.example.com:${port}/`), Deferred.await(stop)))
  await until("lookup", () => asked[0])
  // Whatever was sent to this machine before has arrived when this has.
  const { send: sendInside } = senderOf([], true)
  const status = await runLive(sendInside(`http://127.0.0.1:${port}/`))
  await until("knock", () => isKnocked() || undefined)
  await runLive(Deferred.succeed(stop, undefined))
  await sent
  return { asked, status }
}

const doubtful: ReadonlyArray<readonly [string, ReadonlyArray<ReadonlyArray<string>>]> = [
  ["with addresses outside and inside", [["127.0.0.1", nobodys, "::1"]]],
  ["that resolves differently a moment later", [[nobodys], ["127.0.0.1"]]]
]
for (const [what, answers] of doubtful)
  t.test(`given a name ${what}, when it is a target, then only the outside address that was checked is connected to`, async (t) => {
    const { port, seen } = await insider(t)
    const { asked, status } = await sendUntilLookedUp(answers, port, () => seen.count > 0)
    t.strictSame([asked.length, status], [1, "200"])
    t.equal(seen.count, 1, "that of the other sender alone")
  })

t.test("given targets that need not be public, then a connection is made, and an error is a single word", async (t) => {
  const { port } = await insider(t)
  const layer = WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks: true })))
  t.equal(await runLive(sending(layer)(`http://localhost:${port}/`)), "200")
  t.equal(await runLive(sending(layer)("http://127.0.0.1:1/")), "connection_refused")
  t.equal(await runLive(sending(layer)("http://no-such-name.invalid/")), "name_not_found")
})
