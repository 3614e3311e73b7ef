/** The one policy for what the engine connects to on behalf of organizations, by address and by name. */
import { Effect, Exit, Scope } from "effect"
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { canonicalAddress } from "#core/egress/IpAddress.ts"
import { type Egress, EgressPolicy, refusedCode, refusedWords } from "#core/egress/Egress.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { reachOf } from "#runtime/egress/reach.ts"
import { egress, resolving, trunksOf, webhooksOf } from "#test/support/egress.ts"
import { until } from "#test/support/until.ts"
import { tcpListener } from "./listeners.ts"

const first = OrganizationId.make(1)
const other = OrganizationId.make(2)
const ours = trunksOf(first, { first })
const theirs = trunksOf(other, { first })

const publics = ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
const insides = ["127.0.0.1", "127.255.255.254", "::1", "10.0.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "fd00::1", "fc00::1"]
const wrappedInsides = ["::ffff:10.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1"]
const specials = [
  ...["192.0.2.1", "198.18.0.1", "203.0.113.9", "240.0.0.1"],
  ...["2001:db8::1", "2002:7f00:1::", "2001::1", "::127.0.0.1", "fec0::1"]
]
const nevers = [
  ...["169.254.0.1", "169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1", "febf::1"],
  ...["fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ...["0.0.0.0", "0.1.2.3", "::", "::ffff:0:0", "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"],
  ...["fe80::1%eth0", "fe80::1%25eth0", "::1%lo", "127.1", "0177.0.0.1", "10.0.0.01", "", "example"]
]

t.test("given an address, then its reach is the one that the registries of IANA and the clouds assign", async (t) => {
  for (const address of publics) t.equal(reachOf(address), "public", address)
  for (const address of [...insides, ...wrappedInsides]) t.equal(reachOf(address), "inside", address)
  for (const address of specials) t.equal(reachOf(address), "special", address)
  for (const address of nevers) t.equal(reachOf(address), "never", address)
})

t.test("given an organization, when it names a numeric address, then the settings decide", async (t) => {
  const check = (egress: Egress, allowed: ReadonlyArray<string>, refused: ReadonlyArray<string>) => {
    for (const address of allowed) t.strictSame([egress.maySendTo(address), egress.refuses(address, 8088)], [true, false], address)
    for (const address of refused) t.equal(egress.maySendTo(address), false, address)
    // The others are not addresses in the syntax of URLs.
    for (const address of refused.filter((text) => canonicalAddress(text) !== undefined || text.includes(":"))) {
      t.equal(egress.refuses(address, 8088), true, address)
    }
  }
  check(ours, [...publics, ...insides, ...wrappedInsides], [...specials, ...nevers])
  check(theirs, publics, [...insides, ...wrappedInsides, ...specials, ...nevers])
  check(webhooksOf(), publics, [...insides, ...wrappedInsides, ...specials, ...nevers])
  check(webhooksOf({ privateWebhooks: true }), [...publics, ...insides], [...specials, ...nevers])
  const allow = "10.0.0.0/8, 192.0.2.1, fd00::/16, 169.254.0.0/16, 0.0.0.0/0, ::/0"
  check(
    trunksOf(other, { allow: "10.0.0.0/8, 192.0.2.1,fd00::/16" }),
    ["10.0.0.1", "::ffff:10.0.0.1", "192.0.2.1", "fd00::1"],
    ["127.0.0.1"]
  )
  check(trunksOf(other, { allow }), insides, nevers)
})

t.test("given the engine's own addresses, then they are refused to everybody, whatever is allowed", async (t) => {
  const rules = { allow: "0.0.0.0/0", privateWebhooks: true, first, own: { has: (_: string, port: number) => port === 5432 } }
  for (const egress of [trunksOf(first, rules), trunksOf(other, rules), webhooksOf(rules)]) {
    for (const host of ["127.0.0.1", "localhost", "8.8.8.8"]) {
      t.strictSame([egress.refuses(host, 5432), egress.refuses(host, 5433)], [true, false], host)
    }
  }
})

t.test("given a public address of this very machine, when strangers name it, then it is treated like its loopback", async (t) => {
  const own = { isOfMachine: (address: string) => address === "8.8.8.8" }
  t.strictSame(
    [trunksOf(first, { first, own }).refuses("8.8.8.8", 80), trunksOf(other, { first, own }).refuses("8.8.8.8", 80)],
    [false, true]
  )
  t.equal(webhooksOf({ own }).refuses("8.8.8.8", 80), true)
})

/** The policies of a stranger, whose names resolve to these addresses. */
const resolvingTo = (...answers: ReadonlyArray<ReadonlyArray<string> | string>) => {
  const { asked, layer } = resolving(...answers)
  const policies = Effect.runSync(
    Effect.gen(function* () {
      const policy = yield* EgressPolicy
      return { trunks: yield* policy.trunksOf(other), webhooks: policy.webhooks }
    }).pipe(Effect.provide(egress({ first })), Effect.provide(layer))
  )
  return { ...policies, asked }
}
const looked = (egress: Egress, name = "pbx.example.com") =>
  new Promise<unknown>((resolve) => {
    egress.lookup(8088)(name, { all: true }, (error, found) => resolve(error === null ? found : Reflect.get(error, "code")))
  })

t.test("given a name, when it is looked up, then only addresses come out that may be connected to", async (t) => {
  t.strictSame(await looked(resolvingTo(["127.0.0.1", "8.8.8.8", "::1", "fe80::1%eth0"]).trunks), [{ address: "8.8.8.8", family: 4 }])
  for (const address of [...insides, ...wrappedInsides, ...specials, ...nevers]) {
    t.equal(await looked(resolvingTo([address]).trunks), refusedCode, address)
    t.equal(await looked(resolvingTo([address]).webhooks), refusedCode, address)
  }
})

t.test("given a name without an address, when a stranger's trunk or any webhook names it, then it looks like a private one", async (t) => {
  for (const code of ["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ETIMEDOUT"]) {
    t.equal(await looked(resolvingTo(code).trunks), refusedCode, code)
    t.equal(await looked(resolvingTo(code).webhooks), refusedCode, code)
  }
})

t.test("given an Asterisk's name that leads inside, at once or later, when a trunk is opened, then nothing is connected", async (t) => {
  const inside = await tcpListener(t)
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  // Counted as public, and given to nobody.
  for (const answers of [[["127.0.0.1"]], [["::ffff:127.0.0.1", "10.0.0.1"]], [["3000::1"], ["127.0.0.1"]]]) {
    const { asked, trunks } = resolvingTo(...answers)
    const statuses: Array<TrunkStatus> = []
    const config = { ari_endpoint: `http://pbx.example.com:${inside.port}`, app_name: "u", app_password: "p", dial_string: "" }
    const context = {
      configurationId: TelephonyConfigId.make(1),
      node: "test",
      onEvent: () => {},
      onStatus: (status: TrunkStatus) => void statuses.push(status),
      apiOrigin: undefined,
      callbackUrl: undefined,
      egress: trunks
    }
    await Effect.runPromise(Effect.provideService(ari.connect(config, context), Scope.Scope, scope))
    const isRefused = (status: TrunkStatus) => status._tag === "Down" && status.detail === refusedWords
    await until("a look", () => (asked.length >= answers.length && (answers.length > 1 || statuses.some(isRefused)) ? true : undefined))
  }
  t.equal(inside.seen.count, 0)
})
