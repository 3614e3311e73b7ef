/**
 * Where an organization can have the engine connect for its calls. The first organization may have its Asterisk beside the engine; all others
 * are strangers, who cannot even learn which ports are open.
 */
import { hostname } from "node:os"
import t, { type Test } from "tap"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { type Answer, type Api, untilTrue, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { tcpListener, udpListener } from "./listeners.ts"
import { tenant } from "./tenants.ts"

t.setTimeout(1_800_000)

const refusal = "there is no address here that this engine may connect to"
let named = 0
let called = 0
const configOf = (ari_endpoint: string) => ({
  name: `far end ${++named}`,
  config: { provider: "ari", ari_endpoint, app_name: "u", app_password: "p" }
})
const save = (api: Api, address: string): Promise<Answer> => api.ask("POST", "/organizations/telephony-configs", configOf(address))
const savedAs = (address: string) => `${address}: ${JSON.stringify({ status: 422, msg: `Value error, ${refusal}` })}`
const told = (address: string, { body, status }: Answer) => {
  const { detail } = body as { detail: ReadonlyArray<{ readonly msg: string }> } // The shape of every refused field.
  return `${address}: ${JSON.stringify({ status, msg: detail[0]?.msg })}`
}
/** The result of a call through this configuration. */
const call = async (api: Api, telephony_configuration_id: number) => {
  const agent = await api.createAgent("Hello.")
  // A callee who answers, and is in no other call.
  const phone_number = `+1555010${10 + ++called}01`
  return api.ask("POST", `/public/agent/workflow/${agent.workflow_uuid}`, { phone_number, telephony_configuration_id })
}
/** The result of testing this configuration. */
const tried = async (api: Api, id: number | undefined) => {
  const { body, status } = await api.ask("POST", `/organizations/telephony-configs/${id}/test`, {})
  return { status, body: { ...Object(body), tested_at: undefined } }
}
const idOf = ({ body }: Answer) => (body as { id: number }).id // The answer to a creation.
let emulated = 0
/** Starts an emulated Asterisk, and calls through it. */
const callThrough = async (t: Test, api: Api, options: Parameters<typeof startAriEmulator>[0]) => {
  const emulator = await startAriEmulator({ ringMillis: 100, ...options })
  t.teardown(() => emulator.stop())
  const { password: app_password, url: ari_endpoint, user: app_name } = emulator
  const config = { provider: "ari", ari_endpoint, app_name, app_password }
  const made = await api.ask("POST", "/organizations/telephony-configs", { name: `emulated ${++emulated}`, config })
  t.match(await call(api, idOf(made)), { status: 200 })
  return emulator
}

t.test("given an engine with an Asterisk beside it", async (t) => {
  const world = await World.open(t)
  const stranger = await tenant(world)
  const open = await tcpListener(t)
  const closed = await freePort()
  const database = new URL(world.environment["DATABASE_URL"] ?? "")
  const own = new URL(world.engine.url).port
  /** Stored as if before addresses were checked. */
  const stored = async (organizationId: number, address: string) => {
    const { config, name } = configOf(address)
    const { provider, ...credentials } = config
    const [row] = await world.sql<Array<{ readonly id: number }>>`
      INSERT INTO telephony_configurations (organization_id, name, provider, credentials)
      VALUES (${organizationId}, ${name}, ${provider}, ${world.sql.json(credentials)}) RETURNING id`
    return row?.id ?? 0
  }

  t.test("when another organization names a private address, in any form, then it is refused with the same words", async (t) => {
    const loopback = [
      ...["127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost", "a.localhost."],
      ...["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"]
    ]
    const others = ["0.0.0.0", "[::]", "[64:ff9b::7f00:1]", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]"]
    const metadata = ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "metadata.google.internal"]
    const special = ["224.0.0.1", "255.255.255.255", "[ff02::1]", "[2002:7f00:1::]", "192.0.2.1"]
    for (const host of [...loopback, ...others, ...metadata, ...special]) {
      const address = `http://${host}:${open.port}`
      t.equal(told(address, await save(stranger.api, address)), savedAs(address))
    }
    for (const port of [open.port, closed, own, database.port || "5432"]) {
      const address = `http://127.0.0.1:${port}`
      t.equal(told(address, await save(stranger.api, address)), savedAs(address))
    }
    t.equal(open.seen.count, 0)
  })

  t.test("when such an address is stored already, or behind a name, then calls reveal nothing of what is there", async (t) => {
    const addresses = [`http://127.0.0.1:${open.port}`, `http://127.0.0.1:${closed}`, `https://[::1]:${open.port}`, world.emulator.url]
    const ids = [
      ...(await Promise.all(addresses.map((address) => stored(stranger.id, address)))),
      idOf(await save(stranger.api, `http://${hostname()}:${open.port}`)),
      idOf(await save(stranger.api, `http://no-such-name.invalid:${closed}`))
    ]
    for (const id of ids) {
      t.strictSame(await call(stranger.api, id), { status: 400, body: { detail: `Failed to initiate call: ${refusal}` } })
    }
    const trunks = (await stranger.api.ask("GET", "/organizations/telephony-trunks")).body
    t.match(trunks, { trunks: ids.map(() => ({ status: "down", reason: refusal })) })
    const openPort = await tried(stranger.api, ids[0])
    const closedPort = await tried(stranger.api, ids[1])
    t.match(openPort, { status: 200, body: { passed: false, checks: [{ result: "failed", message: `${refusal}.` }] } })
    t.strictSame(closedPort, openPort, "nor does a test of it")
    t.equal(open.seen.count, 0)
    t.equal(world.emulator.requests.length, 0)
  })

  t.test("when the first organization names an address of the engine's own, or a link-local one, then it is refused too", async (t) => {
    const own = [world.engine.url, `http://localhost:${new URL(world.engine.url).port}`, `http://127.0.0.1:${database.port || "5432"}`]
    for (const address of [...own, "http://169.254.169.254", "http://[fe80::1]:8088", "http://0.0.0.0:8088", "http://100.100.100.200"]) {
      t.equal(told(address, await save(world.api, address)), savedAs(address))
    }
  })

  t.test("when the first organization names a port of this machine, then it is told in the provider's own words", async (t) => {
    const id = idOf(await save(world.api, `http://127.0.0.1:${closed}`))
    t.match(await call(world.api, id), { status: 400, body: { detail: /ECONNREFUSED/ } })
  })
})

t.test("given networks allowed by the operator", async (t) => {
  const world = await World.open(t, { environment: { EGRESS_ALLOW: "127.0.0.1, fd00:1::/64" } })
  const stranger = await tenant(world)

  t.test("when an organization's Asterisk is in one, then its calls go there, and only there", async (t) => {
    const emulator = await callThrough(t, stranger.api, {})
    await untilTrue("an answer", () => emulator.log.count("answered") > 0)
    t.match(await save(stranger.api, "http://127.0.0.2:8088"), { status: 422 })
    t.match(await save(stranger.api, "http://[fd00:1::5]:8088"), { status: 200 })
    t.match(await save(stranger.api, "http://[fd00:2::5]:8088"), { status: 422 })
  })

  t.test("when it redirects elsewhere, then the engine does not follow", async (t) => {
    const inside = await tcpListener(t)
    const far = await tcpListener(
      t,
      `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:${inside.port}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
    )
    const id = idOf(await save(stranger.api, `http://127.0.0.1:${far.port}`))
    t.match(await call(stranger.api, id), { status: 400, body: { detail: /HTTP 302/ } })
    t.equal(inside.seen.count, 0)
    t.ok(far.seen.count > 0)
  })

  const audio = async (address: string, talkMillis: number) => {
    const ear = await udpListener(t, address)
    return { ear, emulator: await callThrough(t, stranger.api, { talkMillis, namesRtpAt: { address, port: ear.port } }) }
  }

  t.test("when the far end wants its audio at the host of the trunk, then it gets it", async () => {
    const { ear } = await audio("127.0.0.1", 600_000)
    await untilTrue("audio", () => ear.seen.count > 10)
  })

  t.test("when it wants it at another host, then no packet goes there", async (t) => {
    const { ear, emulator } = await audio("127.0.0.2", 3000)
    await untilTrue("the end of the call", () => emulator.log.count("ended") > 0)
    t.equal(ear.seen.count, 0)
  })
})
