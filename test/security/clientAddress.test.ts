/** Which address counts as the client's: forwarding headers are believed only if they come from the operator's proxies. */
import { Effect } from "effect"
import t from "tap"
import Type from "typebox"
import { addressOf, proxiesOf } from "#gateway/http/Client.ts"
import { route } from "#gateway/request/Route.ts"
import { canonicalAddress } from "#core/egress/IpAddress.ts"
import { readNetwork, subscriberOf } from "#core/egress/Network.ts"
import { raw, serving } from "#test/gateway/gatewayTest.ts"

const networks = (...texts: ReadonlyArray<string>) => texts.flatMap((text) => readNetwork(text) ?? [])
const of = (...texts: ReadonlyArray<string>) => proxiesOf(networks(...texts))

t.test("given an address in any spelling, then it has one canonical form", async (t) => {
  const check = (text: string, expected: string | undefined) => t.equal(canonicalAddress(text), expected, text)
  check("192.0.2.7", "192.0.2.7")
  check("0000:0000:0000:0000:0000:ffff:c000:0207", "192.0.2.7")
  check("0000:0000:0000:0000:0000:0000:0000:0001", "::1")
  check("2001:0DB8:0000:0001:0000:0000:0000:0001", "2001:db8:0:1::1")
  check("2001:db8::", "2001:db8::")
  check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6")
  check("::", "::")
  check("192.0.2", undefined)
  check("fe80::1%eth0", undefined)
})

t.test("given IPv6 addresses of one subscriber, then they count as one", async (t) => {
  t.equal(subscriberOf("2001:db8:0:1::1"), subscriberOf("2001:db8:0:1:ffff::9"))
  t.not(subscriberOf("2001:db8:0:1::1"), subscriberOf("2001:db8:0:2::1"))
  t.equal(subscriberOf("192.0.2.7"), "192.0.2.7")
})

t.test("given a socket and forwarding headers", async (t) => {
  t.test("when no proxy is trusted, then the socket's address counts", async (t) => {
    t.equal(addressOf(of(), "192.0.2.1", "198.51.100.9"), "192.0.2.1")
  })
  t.test("when proxies are trusted, then the last address that is not one of theirs counts", async (t) => {
    const trusted = of("127.0.0.1", "10.0.0.0/8", "fd00::/8")
    const check = (remote: string, forwarded: string, expected: string) =>
      t.equal(addressOf(trusted, remote, forwarded), expected, `${remote} for ${forwarded}`)
    check("127.0.0.1", "198.51.100.9", "198.51.100.9")
    check("127.0.0.1", "1.1.1.1, 198.51.100.9, 10.1.2.3", "198.51.100.9")
    check("fd00::1", "2001:DB8::7", "2001:db8::7")
    check("fd00::1", "[2001:db8::7]:1234", "2001:db8::7")
    check("127.0.0.1", "198.51.100.9:8080", "198.51.100.9")
    check("127.0.0.1", "::ffff:198.51.100.9", "198.51.100.9")
    check("192.0.2.1", "198.51.100.9", "192.0.2.1")
    check("127.0.0.1", "", "127.0.0.1")
    check("127.0.0.1", "1.1.1.1, unknown", "127.0.0.1")
    check("127.0.0.1", "10.1.1.1", "10.1.1.1")
  })
})

const success = Type.Object({ address: Type.String() })
const common = { method: "post", summary: "Who asks", description: "", access: "none", success } as const
const whoAmI = [
  route({
    ...common,
    path: "/api/v1/who",
    name: "who",
    handle: ({ client }) => Effect.sleep("1 millis").pipe(Effect.as({ address: client.address }))
  }),
  route({
    ...common,
    path: "/api/v1/who-at-once",
    name: "whoAtOnce",
    body: Type.Object({}),
    handle: ({ client }) => Effect.succeed({ address: client.address })
  })
]

/** The answer to a request with these header lines. */
const asked = async (gateway: { readonly port: number }, path: string, ...lines: ReadonlyArray<string>): Promise<unknown> => {
  const head = [`POST ${path} HTTP/1.1`, "host: localhost", "content-type: application/json", "content-length: 2", ...lines]
  return JSON.parse((await raw(gateway, `${head.join("\r\n")}\r\n\r\n{}`)).split("\r\n\r\n")[1] ?? "")
}

t.test("given a server without trusted proxies, when a client names another address, then it is not believed", async (t) => {
  const gateway = await serving(t, whoAmI)
  for (const path of ["/api/v1/who", "/api/v1/who-at-once"]) {
    t.strictSame(await asked(gateway, path, "x-forwarded-for: 198.51.100.9"), { address: "127.0.0.1" }, path)
  }
})

t.test("given a trusted proxy that adds a line of its own, when its client wrote one too, then the proxy's counts", async (t) => {
  const gateway = await serving(t, whoAmI, { trustedProxies: networks("127.0.0.1") })
  const answer = await asked(gateway, "/api/v1/who-at-once", "x-forwarded-for: 203.0.113.1", "x-forwarded-for: 198.51.100.9")
  t.strictSame(answer, { address: "198.51.100.9" })
})
