/** An account's numbers, imported from the carrier by an engine that requests them page by page: all or none. */
import t from "tap"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { World } from "#test/support/engine.ts"

const numbers = Array.from({ length: 7 }, (_, at) => `+1555000900${at}`)

const isList = ({ path }: CarrierAsk) => path === "/v2/phone_numbers"

t.test("given an account at Telnyx with several pages of numbers", async (t) => {
  const emulator = await startTelnyxEmulator({ numbers, pageSize: 3 })
  t.teardown(() => emulator.stop())
  const { apiKey, server } = emulator
  // Without a public address no call can be placed, but numbers can be listed.
  const world = await World.open(t, {
    account: { provider: "telnyx", ...emulator.account },
    environment: { ADAPTERS: "ari,telnyx", PROVIDER_URLS: `telnyx=${server.url}` }
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
  t.match(broken, { status: 502, body: { detail: /^Telnyx did not list its numbers: HTTP 503/ } }, "when it fails halfway")
  t.strictSame(await owned(), [], "then nothing is imported")

  const listed = await ask("GET", "/carrier-numbers?limit=5")
  t.match(listed, { status: 200, body: { numbers: numbers.slice(0, 5).map((address) => ({ address, imported: false })) } })
  const asked = server.requests.filter(isList).length
  t.match(await ask("GET", "/carrier-numbers?limit=5&offset=5"), { body: { numbers: numbers.slice(5).map((address) => ({ address })) } })
  t.equal(server.requests.filter(isList).length, asked, "the second page is part of the same answer")

  t.match(await ask("POST", "/carrier-numbers/import", { all: true }), { status: 200, body: { imported: numbers.length } })
  t.strictSame(await owned(), numbers)

  await server.refuseConnections(true)
  t.match(await ask("GET", "/carrier-numbers"), { status: 502, body: { detail: "Telnyx did not list its numbers: ECONNREFUSED" } })
  await server.refuseConnections(false)
  t.notOk(world.output().includes(apiKey), "no secret is logged")

  const answers = await Promise.all(Array.from({ length: 8 }, () => ask("GET", "/carrier-numbers")))
  const isLimited = answers.some(({ status }) => status === 429)
  t.ok(isLimited, "an organization cannot ask without end")
})
