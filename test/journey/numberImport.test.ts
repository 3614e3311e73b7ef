/** An account's numbers, imported from the carrier by an engine that requests them page by page: all or none. */
import t, { type Test } from "tap"
import { configOf as telnyxOf } from "#test/adapters/telnyxWorld.ts"
import { configOf as vonageOf } from "#test/adapters/vonageWorld.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { startVonageEmulator } from "#test/emulators/vonage/VonageEmulator.ts"
import type { CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { World } from "#test/support/engine.ts"

t.jobs = 2

const numbers = Array.from({ length: 7 }, (_, at) => `+1555000900${at}`)

interface Account {
  readonly provider: string
  readonly config: Readonly<Record<string, unknown>>
  readonly secret: string
  readonly server: CarrierServer
  readonly isList: (ask: CarrierAsk) => boolean
}

const accounts: Readonly<Record<string, (t: Test) => Promise<Account>>> = {
  Vonage: async (t) => {
    const emulator = await startVonageEmulator({ numbers, pageSize: 3, callsPerSecond: 10, requestsPerSecond: 100 })
    t.teardown(() => emulator.stop())
    const isList = ({ path }: CarrierAsk) => path === "/account/numbers"
    return { provider: "vonage", config: vonageOf(emulator), secret: emulator.apiSecret, server: emulator.server, isList }
  },
  Telnyx: async (t) => {
    const emulator = await startTelnyxEmulator({ numbers, pageSize: 3 })
    t.teardown(() => emulator.stop())
    const isList = ({ path }: CarrierAsk) => path === "/v2/phone_numbers"
    return { provider: "telnyx", config: telnyxOf(emulator), secret: emulator.apiKey, server: emulator.server, isList }
  }
}

for (const [name, start] of Object.entries(accounts)) {
  t.test(`given an account at ${name} with several pages of numbers`, { buffered: true }, async (t) => {
    const { config, isList, provider, secret, server } = await start(t)
    // Without a public address no call can be placed, but numbers can be listed.
    const world = await World.open(t, {
      account: { provider, ...config },
      environment: { ADAPTERS: `ari,${provider}`, PROVIDER_URLS: `${provider}=${server.url}` }
    })
    const ask = (method: string, path: string, body?: object) => world.api.ask(method, `/organizations/telephony-configs/1${path}`, body)
    const owned = async () =>
      ((await ask("GET", "/phone-numbers")).body as { phone_numbers: ReadonlyArray<{ address: string }> }).phone_numbers.map(
        (one) => one.address
      )

    server.fail(
      { acts: false, reply: { status: 503, body: "<html>" } },
      (request) => isList(request) && server.requests.filter(isList).length > 1
    )
    const broken = await ask("POST", "/carrier-numbers/import", { all: true })
    t.match(broken, { status: 502, body: { detail: new RegExp(`^${name} did not list its numbers: HTTP 503`) } }, "when it fails halfway")
    t.strictSame(await owned(), [], "then nothing is imported")

    const listed = await ask("GET", "/carrier-numbers?limit=5")
    t.match(listed, { status: 200, body: { numbers: numbers.slice(0, 5).map((address) => ({ address, imported: false })) } })
    const asked = server.requests.filter(isList).length
    t.match(await ask("GET", "/carrier-numbers?limit=5&offset=5"), { body: { numbers: numbers.slice(5).map((address) => ({ address })) } })
    t.equal(server.requests.filter(isList).length, asked, "the second page is part of the same answer")

    t.match(await ask("POST", "/carrier-numbers/import", { all: true }), { status: 200, body: { imported: numbers.length } })
    t.strictSame(await owned(), numbers)

    await server.refuseConnections(true)
    t.match(await ask("GET", "/carrier-numbers"), { status: 502, body: { detail: `${name} did not list its numbers: ECONNREFUSED` } })
    await server.refuseConnections(false)
    t.notOk(world.output().includes(secret), "no secret is logged")

    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("GET", "/carrier-numbers")))
    t.ok(
      answers.some(({ status }) => status === 429),
      "an organization cannot ask without end"
    )
  })
}
