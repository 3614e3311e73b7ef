/** A configuration that names nothing but its credentials: the engine creates at the carrier what calls need, once, and stores it. */
import { generateKeyPairSync, randomUUID } from "node:crypto"
import t from "tap"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { startVonageEmulator } from "#test/emulators/vonage/VonageEmulator.ts"
import { World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { until, untilTrue } from "#test/support/until.ts"

const isCreation = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v2/call_control_applications"

interface Config {
  readonly id: number
  readonly credentials: Readonly<Record<string, string>>
  readonly setup_checklist: {
    readonly steps: ReadonlyArray<{ key: string; complete: boolean; blocks_outbound: boolean; description: string }>
  }
}

const stepOf = ({ setup_checklist }: Config) => setup_checklist.steps.find(({ key }) => key === "prepared")

const [telnyx, vonage] = [
  await startTelnyxEmulator(),
  await startVonageEmulator({ numbers: ["+15550009000"], callsPerSecond: 10, requestsPerSecond: 100 })
]
t.teardown(() => Promise.all([telnyx.stop(), vonage.stop()]))
/** An engine for configurations of this provider. */
const startEngine = async (provider: string, url: string) => {
  const port = await freePort()
  const world = await World.open(t, {
    greeting: "",
    environment: {
      ADAPTERS: `ari,${provider}`,
      PORT: String(port),
      PROVIDER_URLS: `${provider}=${url}`,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off"
    }
  })
  /** Creates a configuration, through which calls go until there is another one, with an id that is one higher. */
  const create = async (config: object) => {
    const { id } = await world.api.createConfig({ provider, ...config }, randomUUID())
    const ask = async (method: string, path = "", body?: object) => {
      const answer = await world.api.ask(method, `/organizations/telephony-configs/${id}${path}`, body)
      return { ...answer, config: answer.body as Config }
    }
    return { ask, id, name: nameOf(id) }
  }
  /** What the engine calls the application of the configuration with this id. */
  const nameOf = (id: number) => `Trunkline 127.0.0.1:${port} ${id}`
  return { create, nameOf, world }
}
// Both before the first test: tap takes the file for finished if no test is left while one of them starts.
const { create, world } = await startEngine("telnyx", telnyx.url)
const { create: createVonage, nameOf, world: other } = await startEngine("vonage", vonage.url)

const open = async (more: object = {}) => {
  const before = telnyx.server.requests.filter(isCreation).length
  const { ask, id, name } = await create({ ...telnyx.account, connection_id: "", ...more })
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
  const creations = () => telnyx.server.requests.filter(isCreation).length - before
  return { ask, creations, failed, id, name, prepared }
}
const own = (name: string) => telnyx.applications.all().filter((one) => one.application_name === name)

t.test("given an account without an application, then one is created and kept, and calls go through it", async (t) => {
  const { ask, creations, id, name, prepared } = await open()
  const { credentials } = await prepared()
  const [application] = own(name)
  t.match(application, { webhook_event_url: new RegExp(`^http://127\\.0\\.0\\.1:\\d+/api/v1/carrier-callbacks/${id}/-/event/`) })
  t.match(credentials, { application_id: application?.id, connection_id: "" })

  await ask("POST", "/phone-numbers", { address: "+15550009001" })
  t.match((await ask("GET")).body, { is_ready_for_outbound: true })
  await world.api.call(world.agentUuid, "+15551110001")
  await untilTrue("the call", () => telnyx.dials().length === 1)
  t.match(JSON.parse(telnyx.dials()[0]?.body ?? ""), { connection_id: application?.id })

  const config = { provider: "telnyx", ...telnyx.account, connection_id: "" }
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
  t.equal(creations(), 1, "nothing was created twice")
  t.match((await world.api.ask("GET", "/organizations/telephony-providers/metadata")).body, {
    providers: [{}, { provider: "telnyx", fields: [{}, {}, { name: "application_id", type: "readonly", required: false }] }]
  })
})

t.test("given a lost reply, then what was created is found by its name", async (t) => {
  telnyx.server.fail({ acts: true, reply: "reset" }, isCreation)
  const { ask, creations, failed, name } = await open()
  t.match(await failed(), { blocks_outbound: true })
  t.equal(own(name).length, 1)
  const again = await ask("POST", "/prepare")
  t.match(again.config.credentials, { application_id: own(name)[0]?.id })
  t.match(stepOf(again.config), { complete: true })
  t.equal(creations(), 1)
})

t.test("given an engine that dies after creating it and before storing that, then nothing is created again", async (t) => {
  telnyx.server.fail({ acts: true, reply: "hang" }, isCreation)
  const { ask, creations, name } = await open()
  await untilTrue("the application", () => own(name).length === 1)
  await world.end("SIGKILL")
  await world.launch()
  t.match((await ask("POST", "/prepare")).config.credentials, { application_id: own(name)[0]?.id })
  t.equal(creations(), 1)
})

t.test("given requests while one is under way, then they wait for it, and one application is created", async (t) => {
  const isChoice = ({ path }: CarrierAsk) => path === "/v2/outbound_voice_profiles"
  const choices = () => telnyx.server.requests.filter(isChoice).length
  const before = choices()
  telnyx.server.fail({ acts: true, reply: "hang" }, isChoice)
  const { ask, creations, name } = await open()
  await untilTrue("a request under way", () => choices() > before)
  const waiting = Promise.all([1, 2].map(() => ask("POST", "/prepare")))
  for (let asked = 0; asked < 10; asked++) await ask("GET")
  telnyx.server.replyLate()
  t.strictSame(
    (await waiting).map(({ config }) => config.credentials["application_id"]),
    [1, 2].map(() => own(name)[0]?.id)
  )
  t.equal(creations(), 1)
})

t.test("given a carrier that refuses, then the setup step says so in its words, without a secret", async (t) => {
  const { ask, failed, name } = await open({ api_key: "KEY0123456789abcdef" })
  t.match(await failed(), { description: /could not be created: HTTP 401 10009/ })
  const { body } = await ask("GET")
  t.match(body, { is_ready_for_outbound: false, outbound_blocked_reason: /HTTP 401 10009/ })
  t.notOk([world.output(), JSON.stringify(body)].some((text) => text.includes("KEY0123456789abcdef")))
  t.strictSame(own(name), [])
})

t.test("given an application that a person named, then nothing is created, and a removed one of ours is replaced", async (t) => {
  const { ask, name, prepared } = await open()
  const first = (await prepared()).credentials["application_id"] ?? ""
  const named = { provider: "telnyx", ...telnyx.account }
  t.match(await ask("PUT", "", { config: named }), { status: 200, body: { credentials: { connection_id: telnyx.connectionId } } })
  await ask("POST", "/prepare")
  telnyx.applications.remove(first)
  t.match(await ask("PUT", "", { config: { ...named, connection_id: "" } }), { status: 200 })
  const { config } = await ask("POST", "/prepare")
  const [second] = own(name)
  t.not(second?.id, first)
  t.match(config.credentials, { application_id: second?.id, connection_id: "" })
  t.ok(telnyx.applications.all().some(({ application_name }) => application_name === "made by a person"))
})

t.test("given several outbound voice profiles, then the choice is left to a person", async (t) => {
  telnyx.applications.profiles.push({ id: "2", name: "Other", enabled: true })
  const { failed, name } = await open()
  t.match(await failed(), { description: /several outbound voice profiles/ })
  t.strictSame(own(name), [])
})

const createsApplication = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v2/applications"
const { application_id, private_key, ...account } = vonage.account
const ofVonage = (name: string) => vonage.applications.all.filter((one) => one.name === name)

t.test("given a Vonage account without an application, then one is created with a key of its own, and calls go through it", async (t) => {
  vonage.server.fail({ acts: true, reply: "reset" }, createsApplication)
  const { ask, name } = await createVonage(account)
  await untilTrue("the application", () => ofVonage(name).length === 1)
  const { config } = await ask("POST", "/prepare")
  const [application] = ofVonage(name)
  const created_private_key = /^\*+-{4}$/
  t.match(config.credentials, { application_id: "", private_key: "", created_application_id: application?.id, created_private_key })
  t.match(application, { capabilities: { voice: { signed_callbacks: true } } })
  t.equal(vonage.server.requests.filter(createsApplication).length, 1, "it was found again after the lost reply, and has the same key")

  await ask("POST", "/phone-numbers", { address: "+15550009000" })
  await other.api.call(other.agentUuid, "+15551110001")
  await untilTrue("the call", () => vonage.log.count("originate") === 1)
  const sent = { provider: "vonage", ...config.credentials, signature_secret: vonage.keys.signatureSecret }
  t.match(await ask("PUT", "", { config: sent }), { status: 200, body: { credentials: config.credentials } })
  t.notMatch([other.output(), JSON.stringify(config)], /BEGIN/)
})

t.test("given only part of an application's settings at Vonage, then a person has to complete them", async (t) => {
  const { ask, name } = await createVonage(account)
  const put = (more: object) => ask("PUT", "", { config: { provider: "vonage", ...account, ...more } })
  const { config } = await ask("POST", "/prepare")
  t.match(config.credentials, { created_application_id: ofVonage(name)[0]?.id })
  await put({ application_id })
  t.match(stepOf((await ask("POST", "/prepare")).config), { complete: false, description: /belong together/ })
  await put({ application_id, private_key })
  t.notMatch(JSON.stringify((await ask("POST", "/prepare")).body), /belong together/)
  t.equal(ofVonage(name).length, 1)
})

t.test("given an application at Vonage with our name and another key, then it is not ours, and there is no second one", async (t) => {
  const [latest] = await other.sql<Array<{ id: number }>>`SELECT max(id)::int AS id FROM telephony_configurations`
  const next = (latest?.id ?? 0) + 1
  const public_key = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "pem", type: "spki" })
  vonage.applications.create(
    JSON.stringify({ name: nameOf(next), keys: { public_key }, capabilities: { voice: { signed_callbacks: true } } })
  )
  const { ask, name } = await createVonage(account)
  const { config } = await ask("POST", "/prepare")
  t.equal(name, nameOf(next))
  t.match(stepOf(config), { complete: false, description: /exists with another key/ })
  t.match(config.credentials, { created_application_id: "" })
  t.equal(ofVonage(name).length, 1)
})
