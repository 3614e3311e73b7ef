/** A configuration that names nothing but its credentials: the engine creates at the carrier what calls need, once, and stores it. */
import { generateKeyPairSync } from "node:crypto"
import t, { type Test } from "tap"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { startVonageEmulator } from "#test/emulators/vonage/VonageEmulator.ts"
import { World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { until, untilTrue } from "#test/support/until.ts"

t.jobs = 2

const isCreation = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v2/call_control_applications"

type Emulator = Awaited<ReturnType<typeof startTelnyxEmulator>>
type VonageEmulator = Awaited<ReturnType<typeof startVonageEmulator>>

interface Config {
  readonly id: number
  readonly credentials: Readonly<Record<string, string>>
  readonly setup_checklist: {
    readonly steps: ReadonlyArray<{ key: string; complete: boolean; blocks_outbound: boolean; description: string }>
  }
}

const stepOf = ({ setup_checklist }: Config) => setup_checklist.steps.find(({ key }) => key === "prepared")

/** An engine with a configuration of this account. */
const openAt = async (t: Test, provider: string, url: string, port: number, account: object) => {
  const world = await World.open(t, {
    account: { provider, ...account },
    greeting: "",
    environment: {
      ADAPTERS: `ari,${provider}`,
      PORT: String(port),
      PROVIDER_URLS: `${provider}=${url}`,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off"
    }
  })
  const ask = async (method: string, path = "", body?: object) => {
    const answer = await world.api.ask(method, `/organizations/telephony-configs/1${path}`, body)
    return { ...answer, config: answer.body as Config }
  }
  return { ask, world }
}

const open = async (t: Test, more: object = {}, arrange: (emulator: Emulator) => void = () => {}) => {
  const emulator = await startTelnyxEmulator()
  t.teardown(() => emulator.stop())
  arrange(emulator)
  const port = await freePort()
  const { ask, world } = await openAt(t, "telnyx", emulator.url, port, { ...emulator.account, connection_id: "", ...more })
  const prepared = () =>
    until("what calls need", async () => {
      const { config } = await ask("GET")
      return stepOf(config)?.complete === true ? config : undefined
    })
  const failed = () =>
    until("why it could not be created", async () => {
      const step = stepOf((await ask("GET")).config)
      return step?.description.includes("could not") === true ? step : undefined
    })
  return { ask, emulator, failed, name: `Trunkline 127.0.0.1:${port} 1`, prepared, world }
}
const own = ({ applications }: Emulator, name: string) => applications.all().filter((one) => one.application_name === name)

t.test("given an account without an application, then one is created and kept, and calls go through it", { buffered: true }, async (t) => {
  const { ask, emulator, name, prepared, world } = await open(t)
  const { credentials } = await prepared()
  const [application] = own(emulator, name)
  t.match(application, { webhook_event_url: /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/carrier-callbacks\/1\/-\/event\// })
  t.match(credentials, { application_id: application?.id, connection_id: "" })

  await ask("POST", "/phone-numbers", { address: "+15550009000" })
  t.match((await ask("GET")).body, { is_ready_for_outbound: true })
  await world.api.call(world.agentUuid, "+15551110001")
  await untilTrue("the call", () => emulator.dials().length === 1)
  t.match(JSON.parse(emulator.dials()[0]?.body ?? ""), { connection_id: application?.id })

  const config = { provider: "telnyx", ...emulator.account, connection_id: "" }
  t.match(await ask("PUT", "", { config }), { status: 200, body: { credentials: { application_id: application?.id } } }, "it is left out")
  t.match(await ask("PUT", "", { config: { ...config, ...credentials } }), { status: 200 }, "it is sent as it was read")
  for (const application_id of ["1234", "*****"])
    t.match(await ask("PUT", "", { config: { ...config, application_id } }), {
      status: 422,
      body: { detail: [{ loc: ["body", "config", "telnyx", "application_id"], msg: /sets this field itself/ }] }
    })
  t.match(await world.api.ask("POST", "/organizations/telephony-configs", { name: "new", config: { ...config, application_id: "1" } }), {
    status: 422
  })
  t.match(await ask("POST", "/prepare"), { status: 200, body: { credentials: { application_id: application?.id } } })
  t.equal(emulator.server.requests.filter(isCreation).length, 1, "nothing was created twice")
  t.match((await world.api.ask("GET", "/organizations/telephony-providers/metadata")).body, {
    providers: [{}, { provider: "telnyx", fields: [{}, {}, { name: "application_id", type: "readonly", required: false }] }]
  })
})

t.test("given a lost reply, then what was created is found by its name", { buffered: true }, async (t) => {
  const { ask, emulator, failed, name } = await open(t, {}, ({ server }) => server.fail({ acts: true, reply: "reset" }, isCreation))
  t.match(await failed(), { blocks_outbound: true })
  t.equal(own(emulator, name).length, 1)
  const again = await ask("POST", "/prepare")
  t.match(again.config.credentials, { application_id: own(emulator, name)[0]?.id })
  t.match(stepOf(again.config), { complete: true })
  t.equal(emulator.server.requests.filter(isCreation).length, 1)
})

t.test(
  "given an engine that dies after creating it and before storing that, then nothing is created again",
  { buffered: true },
  async (t) => {
    const { ask, emulator, name, world } = await open(t, {}, ({ server }) => server.fail({ acts: true, reply: "hang" }, isCreation))
    await untilTrue("the application", () => own(emulator, name).length === 1)
    await world.end("SIGKILL")
    await world.launch()
    t.match((await ask("POST", "/prepare")).config.credentials, { application_id: own(emulator, name)[0]?.id })
    t.equal(emulator.server.requests.filter(isCreation).length, 1)
  }
)

t.test("given requests while one is under way, then they wait for it, and one application is created", { buffered: true }, async (t) => {
  const isChoice = ({ path }: CarrierAsk) => path === "/v2/outbound_voice_profiles"
  const { ask, emulator, name } = await open(t, {}, ({ server }) => server.fail({ acts: true, reply: "hang" }, isChoice))
  const { server } = emulator
  await untilTrue("a request under way", () => server.requests.some(isChoice))
  const waiting = Promise.all([1, 2].map(() => ask("POST", "/prepare")))
  for (let asked = 0; asked < 10; asked++) await ask("GET")
  server.replyLate()
  t.strictSame(
    (await waiting).map(({ config }) => config.credentials["application_id"]),
    [1, 2].map(() => own(emulator, name)[0]?.id)
  )
  t.equal(server.requests.filter(isCreation).length, 1)
})

t.test("given a carrier that refuses, then the setup step says so in its words, without a secret", { buffered: true }, async (t) => {
  const { ask, emulator, failed, world } = await open(t, { api_key: "KEY0123456789abcdef" })
  t.match(await failed(), { description: /could not be created: HTTP 401 10009/ })
  const { body } = await ask("GET")
  t.match(body, { is_ready_for_outbound: false, outbound_blocked_reason: /HTTP 401 10009/ })
  t.notOk([world.output(), JSON.stringify(body)].some((text) => text.includes("KEY0123456789abcdef")))
  t.equal(emulator.applications.all().length, 1)
})

t.test("given several outbound voice profiles, then the choice is left to a person", { buffered: true }, async (t) => {
  const { emulator, failed, name } = await open(t, {}, ({ applications }) =>
    applications.profiles.push({ id: "2", name: "Other", enabled: true })
  )
  t.match(await failed(), { description: /several outbound voice profiles/ })
  t.strictSame(own(emulator, name), [])
})

t.test(
  "given an application that a person named, then nothing is created, and a removed one of ours is replaced",
  { buffered: true },
  async (t) => {
    const { ask, emulator, name, prepared } = await open(t)
    const first = (await prepared()).credentials["application_id"] ?? ""
    const named = { provider: "telnyx", ...emulator.account }
    t.match(await ask("PUT", "", { config: named }), { status: 200, body: { credentials: { connection_id: emulator.connectionId } } })
    await ask("POST", "/prepare")
    emulator.applications.remove(first)
    t.match(await ask("PUT", "", { config: { ...named, connection_id: "" } }), { status: 200 })
    const { config } = await ask("POST", "/prepare")
    const [second] = own(emulator, name)
    t.not(second?.id, first)
    t.match(config.credentials, { application_id: second?.id, connection_id: "" })
    t.ok(emulator.applications.all().some(({ application_name }) => application_name === "made by a person"))
  }
)

const openVonage = async (t: Test, arrange: (emulator: VonageEmulator, name: string) => void = () => {}) => {
  const emulator = await startVonageEmulator({ numbers: ["+15550009000"], callsPerSecond: 10, requestsPerSecond: 100 })
  t.teardown(() => emulator.stop())
  const port = await freePort()
  arrange(emulator, `Trunkline 127.0.0.1:${port} 1`)
  const { application_id, private_key, ...account } = emulator.account
  const { ask, world } = await openAt(t, "vonage", emulator.url, port, account)
  return { account, ask, emulator, named: { application_id, private_key }, world }
}
const createsApplication = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v2/applications"

t.test(
  "given a Vonage account without an application, then one is created with a key of its own, and calls go through it",
  { buffered: true },
  async (t) => {
    const { ask, emulator, world } = await openVonage(t, ({ server }) => server.fail({ acts: true, reply: "reset" }, createsApplication))
    await untilTrue("the application", () => emulator.applications.all.length === 1)
    const { config } = await ask("POST", "/prepare")
    const [application] = emulator.applications.all
    t.match(config.credentials, {
      application_id: "",
      private_key: "",
      created_application_id: application?.id,
      created_private_key: /^\*+-{4}$/
    })
    t.match(application, { name: /^Trunkline 127\.0\.0\.1:\d+ 1$/, capabilities: { voice: { signed_callbacks: true } } })
    t.equal(emulator.server.requests.filter(createsApplication).length, 1, "it was found again after the lost reply, and has the same key")

    await ask("POST", "/phone-numbers", { address: "+15550009000" })
    await world.api.call(world.agentUuid, "+15551110001")
    await untilTrue("the call", () => emulator.log.count("originate") === 1)
    t.match(
      await ask("PUT", "", { config: { provider: "vonage", ...config.credentials, signature_secret: emulator.keys.signatureSecret } }),
      {
        status: 200,
        body: { credentials: config.credentials }
      }
    )
    t.notMatch([world.output(), JSON.stringify(config)], /BEGIN/)
  }
)

t.test("given only part of an application's settings at Vonage, then a person has to complete them", { buffered: true }, async (t) => {
  const { account, ask, emulator, named } = await openVonage(t)
  const put = (more: object) => ask("PUT", "", { config: { provider: "vonage", ...account, ...more } })
  const { config } = await ask("POST", "/prepare")
  const [application] = emulator.applications.all
  t.match(config.credentials, { created_application_id: application?.id })
  await put({ application_id: named.application_id })
  t.match(stepOf((await ask("POST", "/prepare")).config), { complete: false, description: /belong together/ })
  await put(named)
  t.notMatch(JSON.stringify((await ask("POST", "/prepare")).body), /belong together/)
  t.equal(emulator.applications.all.length, 1)
})

t.test(
  "given an application at Vonage with our name and another key, then it is not ours, and there is no second one",
  { buffered: true },
  async (t) => {
    const public_key = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "pem", type: "spki" })
    const { ask, emulator } = await openVonage(t, ({ applications }, name) =>
      applications.create(JSON.stringify({ name, keys: { public_key }, capabilities: { voice: { signed_callbacks: true } } }))
    )
    const { config } = await ask("POST", "/prepare")
    t.match(stepOf(config), { complete: false, description: /exists with another key/ })
    t.match(config.credentials, { created_application_id: "" })
    t.equal(emulator.applications.all.length, 1)
  }
)
