/** The engine and an adapter as packages in an otherwise empty folder: types, the start by a command, a call, and the adapter's own tests. */
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { decodeSample } from "#core/audio/Mulaw.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { removeData } from "#test/support/dataFolder.ts"
import { freePort } from "#test/support/freePort.ts"
import { startService } from "#test/support/npmStart.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { openPackages, path, run } from "./Packages.ts"
import { AcmeVoices, tones } from "./voice-speaker-acme/test/AcmeVoices.ts"
import { AcmeCarrier, answering } from "./voice-adapter-acme/test/AcmeCarrier.ts"

const packages = await openPackages(t)

t.test("given the engine's package, then it contains no file whose types Node would have to strip", async (t) => {
  // The examples are separate projects, to be copied.
  const own = packages.files.filter((file) => !/^package\/test\/package\/[a-z-]+-acme\//.test(file))
  const sources = own.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
  t.strictSame(sources, [])
  const tests = own.filter((file) => file.startsWith("package/test/"))
  t.strictSame(tests, [])
})

/** The compiler of the author's project. */
const tsc = join(packages.author, "node_modules/.bin/tsc")
const strictly = ["--strict", "--noEmit", "--types", "node", "--module", "NodeNext", "--target", "ES2024", "--skipLibCheck", "false"]
const apiUse = `
import type { Campaign, Operations } from "trunkline/api"
type Start = Operations["startCampaign"]
const request: Pick<Start, "method" | "path" | "params"> = {
  method: "POST", path: "/api/v1/campaign/{campaign_id}/start", params: { campaign_id: 7 }
}
const stateOf = (answer: Start["answer"]): Campaign["state"] => answer.state
const config: Operations["createTelephonyConfig"]["body"]["config"]["provider"] = "ari"
`
const adapterUse = `
import { Effect } from "effect"
import { Credential, defineAdapter, Hmac, jsonMedia, Mulaw, OriginateRefused, PlivoDialect, streamSidDialect, Xml } from "trunkline/adapter"
const manifest = { contract: 2, provider: "x", displayName: "X", docsUrl: "", callsPerSecond: 1, originatesInFlight: 1 } as const
const refused = Effect.fail(new OriginateRefused({ reason: "unreachable", detail: "" }))
const nothing = Effect.succeed({ presence: "gone", told: [] } as const)
const adapter = defineAdapter({
  manifest,
  fields: { token: Credential.secret({ label: "Token" }) },
  connect: ({ token }) => Effect.succeed({ originate: () => refused, hangup: () => Effect.void, lookup: () => nothing, adopt: () => void token }),
  media: { accept: jsonMedia(streamSidDialect) }
})
const parts: [Buffer, string, Uint8Array, number | undefined] =
  [Hmac.hmac("sha256", "", ""), Xml.documentOf(Xml.element("Response", {})), Mulaw.encode(new Int16Array(1)), PlivoDialect.END_OF_DOCUMENT]
`

const uses = [
  {
    what: "the API",
    source: apiUse,
    wrong: 'const wrong: Campaign["state"] = "asleep"',
    fault: /^wrong0\.ts\(\d+,7\): error TS2322: Type '"asleep"' is not assignable/
  },
  {
    what: "the contract",
    source: adapterUse,
    wrong: 'new OriginateRefused({ reason: "tired", detail: "" })',
    fault: /^wrong1\.ts\(\d+,\d+\): error TS2322: Type '"tired"'/
  }
]

t.test("given the engine's package, when a strict compiler reads what uses it", async (t) => {
  for (const [index, { source, wrong }] of uses.entries())
    writeFileSync(join(packages.operator, `wrong${index}.ts`), `${source}\n${wrong}\n`)
  cpSync(join(packages.author, "test"), join(packages.operator, "suite"), { recursive: true })
  // They are compiled together, because most of the time goes into what all of them import.
  const names = ["suite/conformance.ts", ...uses.map((_, index) => `wrong${index}.ts`)]
  const { output } = await run(packages.operator, tsc, ...strictly, "--allowImportingTsExtensions", ...names)
  const errors = output.split("\n").filter((line) => line.includes("error TS"))
  for (const [index, { fault, what }] of uses.entries()) {
    const [first, ...more] = errors.filter((line) => line.startsWith(`wrong${index}.ts`))
    t.match(first, fault, `then wrong use of ${what} does not compile`)
    t.strictSame(more, [])
  }
  t.equal(errors.length, uses.length, "then the rest does, as does the conformance suite of the example")
})

t.test("given the commands of adapters/README.md, when an author types them, then each example's suite passes", async (t) => {
  const { adapter, model, voices } = packages.suites
  for (const suite of [adapter, model, voices]) t.match(suite, /\bfail 0\b/)
  t.match(adapter, /ok \d+ - lost reply: a call that was placed is in doubt, and what the carrier reports names it/)
  t.match(model, /\bpass 8\b/)
  t.match(voices, /\bpass 10\b/)
  t.strictSame((model + voices).match(/not asked.*/g), ["not asked: the voice does not tell when words are spoken"])
})

const dataDir = join(packages.operator, "data")
t.teardown(() => removeData(dataDir))

t.test("given the engine's command, then it also migrates the schema, and shows its usage", async (t) => {
  const command = join(packages.operator, "node_modules/.bin/trunkline")
  const migrated = await run(packages.operator, `DATA_DIR=${dataDir}`, command, "migrate")
  t.ok(migrated.isGood)
  t.match(migrated.output, "schema is up to date")
  t.strictSame(await run(packages.operator, command, "help"), {
    isGood: false,
    output: "Usage: trunkline [migrate | restored | copy-files FOLDER]\n"
  })
})

const apiKey = "package-key-0123456789abcdef"

t.test("given both packages in a folder, when the engine is started there", async (t) => {
  const acme = await AcmeCarrier.start()
  t.teardown(() => acme.stop())
  const asterisk = await startAriEmulator()
  t.teardown(() => asterisk.stop())
  const voices = await AcmeVoices.start()
  t.teardown(() => voices.stop())
  const port = String(await freePort())
  t.equal(packages.start, "ADAPTERS=ari,voice-adapter-acme npx trunkline", "as adapters/README.md says")
  // Started as a supervisor would start it, because npx does not forward signals.
  const command = {
    words: ["ADAPTERS=ari,voice-adapter-acme", "SERVICES=language-model-acme,voice-speaker-acme", "node_modules/.bin/trunkline"],
    cwd: packages.operator
  }
  // In the database that the command has migrated.
  const PUBLIC_URL = `http://127.0.0.1:${port}`
  const environment = { API_KEY: apiKey, DATA_DIR: dataDir, PATH: path, PORT: port, PUBLIC_URL, RECORDINGS: "off" }
  const { isLeft, output, terminate, url } = await startService(t, command, environment)
  const ask = asking(url)

  const { providers } = await ask("GET", "/organizations/telephony-providers/metadata")
  const fields = [{ name: "endpoint" }, { name: "token", sensitive: true }]
  t.match(providers, [{ provider: "acme", display_name: "Acme", fields }, { provider: "ari" }], "then the API has the adapter's fields")

  const { llm, tts } = await ask("GET", "/user/configurations/defaults")
  t.match(tts, { acme: { title: "Acme Voices", required: ["provider", "api_key", "base_url"] }, flite: {} })
  t.match(llm, { acme: { title: "Acme Minds", required: ["provider", "api_key", "base_url"] }, embedded: {}, openai: {} })
  const minds = { provider: "acme", api_key: "key-of-acme-minds", base_url: "http://minds.example.com" }
  await t.rejects(ask("PUT", "/user/configurations/user", { llm: { ...minds, base_url: "gopher://minds.example.com" } }), /base_url/)
  const saved = await ask("PUT", "/user/configurations/user", { llm: minds })
  t.match(saved["llm"], { ...minds, api_key: /^\*+inds$/ }, "then agents can have the language model")

  const { id } = await configure(ask, { provider: "acme", endpoint: acme.url, token: acme.token })
  await ask("POST", `/organizations/telephony-configs/${id}/phone-numbers`, { address: "+15550100000" })
  const number = `+15550100${answering.leaves}`
  // The greeting is empty, because this carrier has no audio.
  const run = await callWith(ask, "", number)
  t.strictSame(acme.requested, [number], "then a call through it rings once")
  t.equal(acme.callTo(number)?.status, "completed")
  t.match(run, { gathered_context: { call_disposition: "user_hangup" } }, "then its run is complete")

  await configure(ask, { provider: "ari", ari_endpoint: asterisk.url, app_name: asterisk.user, app_password: asterisk.password })
  await callWith(ask, "Good morning.", "+15550100001")
  const heard = asterisk.log.heard(asterisk.log.of("+15550100001")[0]?.channelId ?? "")
  t.ok(
    heard.some((code) => Math.abs(decodeSample(code)) > 1000),
    "then the engine's own voice is heard, which another thread synthesizes"
  )

  const speaker = { provider: "acme", api_key: voices.key, base_url: voices.url, voice: "high" }
  await t.rejects(ask("PUT", "/user/configurations/user", { tts: { ...speaker, voice: "hoarse" } }), /voice/)
  const chosen = await ask("PUT", "/user/configurations/user", { tts: speaker })
  t.match(chosen["tts"], { ...speaker, api_key: /^\*+ices$/ })
  const spoken = await callWith(ask, "Good evening. It is late.", "+15550100021")
  t.match(spoken, { usage_info: { tts: { "acme#0|||high": 24 } } }, "then agents speak with the voices")
  t.strictSame(voices.asked.toSorted(), ["Good evening.", "It is late."])
  const evening = asterisk.log.heard(asterisk.log.of("+15550100021")[0]?.channelId ?? "")
  const loudest = [tones.low, tones.high].toSorted((a, b) => strengthOf(evening, b) - strengthOf(evening, a))
  t.equal(loudest[0], tones.high, "and the callee hears the chosen one")

  const [, setup_code] = /"setup_code": "([^"]+)"/.exec(output()) ?? []
  await ask("POST", "/auth/signup", { email: "ada@example.com", password: "correct horse", name: "Ada", setup_code })
  for (const page of ["/docs", "/console", "/console/console.js"]) t.equal((await fetch(`${url}${page}`)).status, 200, page)

  await terminate()
  await untilTrue("end of the engine and its database", () => !isLeft())
})

/** The strength of a tone in what was heard. */
const strengthOf = (codes: Uint8Array, hertz: number): number => {
  let [sine, cosine] = [0, 0]
  codes.forEach((code, at) => {
    const angle = (2 * Math.PI * hertz * at) / 8000
    sine += decodeSample(code) * Math.sin(angle)
    cosine += decodeSample(code) * Math.cos(angle)
  })
  return Math.hypot(sine, cosine) / codes.length
}

type Ask = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

const asking =
  (url: string): Ask =>
  async (method, path, body) => {
    const headers = { "x-api-key": apiKey, "content-type": "application/json" }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${url}/api/v1${path}`, { method, headers, ...content })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    // The engine builds its answers from its own types, which this test does not import.
    return (await response.json()) as Record<string, unknown>
  }

const configure = (ask: Ask, config: { readonly provider: string } & Readonly<Record<string, string>>) =>
  ask("POST", "/organizations/telephony-configs", { name: config.provider, config, is_default_outbound: true })

/** The run of one call, once it is complete. */
const callWith = async (ask: Ask, greeting: string, number: string) => {
  const data = { name: "Start", prompt: "Greet.", greeting_type: "text", greeting }
  const nodes = [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data }]
  const agent = await ask("POST", "/workflow/create/definition", { name: "Reminder", workflow_definition: { nodes, edges: [] } })
  const { workflow_run_id } = await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, { phone_number: number })
  return until("end of the run", async () => {
    const run = await ask("GET", `/workflow/${agent["id"]}/runs/${workflow_run_id}`)
    return run["is_completed"] === true ? run : undefined
  })
}
