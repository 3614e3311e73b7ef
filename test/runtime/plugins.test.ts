/** Adapters are loaded by name: built in, or from a package beside the engine, and only if they satisfy the contract. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect, Layer, Logger } from "effect"
import t from "tap"
import { builtIn } from "#adapters/builtIn.ts"
import { OriginateRefused } from "#core/provider/Adapter.ts"
import { CallId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { isSecret } from "#core/model/ModelSecrets.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { Registry } from "#core/provider/Registry.ts"
import { Config } from "#runtime/config/config.ts"
import { layer } from "#runtime/plugins.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { trunksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { usual } from "#test/support/usual.ts"

const folder = await mkdtemp(join(tmpdir(), "plugins-"))
const engine = process.cwd()
t.before(async () => {
  await mkdir(join(folder, "node_modules"))
  await writeFile(join(folder, "package.json"), "{}")
  process.chdir(folder)
})
t.teardown(async () => {
  process.chdir(engine)
  await rm(folder, { recursive: true })
})

const install = async (
  name: string,
  source: string,
  { below = folder, exports = "./index.js" }: { below?: string; exports?: unknown } = {}
) => {
  const place = join(below, "node_modules", name)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, "package.json"), JSON.stringify({ exports, name, type: "module", version: "1.0.0" }))
  await writeFile(join(place, "index.js"), source)
  return place
}
const registryOf = (adapters?: string) =>
  runLive(
    Registry.use(({ all }) => Effect.succeed(all)).pipe(
      Effect.provide(Layer.provide(layer, [Config.layerOf({ ADAPTERS: adapters, HEARING: "off" }), FliteVoices.layer()]))
    )
  )
/** What a start says that is refused. */
const refusal = (start: Promise<unknown>) =>
  start.then(
    () => "let in",
    (error: Error) => error.message
  )
const refusalOf = (adapters: string) => refusal(registryOf(adapters))
const context = {
  configurationId: TelephonyConfigId.make(1),
  node: "node1",
  onEvent: () => {},
  onStatus: () => {},
  apiOrigin: undefined,
  callbackUrl: undefined,
  egress: trunksOf(OrganizationId.make(1))
}
const connected = async (name: string) => {
  const [adapter] = await registryOf(name)
  return { adapter, connect: adapter?.connect({}, context) ?? Effect.die("no adapter") }
}

let calls = 0
const newCallId = () => CallId.make(`01890000-0000-7000-8000-${String(++calls).padStart(12, "0")}`)

const manifest = `{ contract: 2, provider: "acme", displayName: "Acme", docsUrl: "", callsPerSecond: 1, originatesInFlight: 4 }`
const acme = `
  import { Effect } from "effect"
  import { Credential, defineAdapter, OriginateRefused } from "trunkline/adapter"
  export default defineAdapter({
    manifest: ${manifest},
    fields: { account: Credential.text({ label: "Account" }) },
    connect: () => Effect.succeed({ originate: () => Effect.fail(new OriginateRefused({ reason: "unreachable", detail: "" })) })
  })`

t.test("given no names, then all built-in adapters are there", async (t) => {
  t.strictSame(await registryOf(), builtIn)
})

t.test("given an adapter in a package, when it is named, then it is available beside the built-in ones", async (t) => {
  await install("voice-adapter-acme", acme)
  const all = await registryOf("ari, voice-adapter-acme")
  const providers = all.map((adapter) => adapter.manifest.provider)
  t.strictSame(providers, ["acme", "ari"])
  t.strictSame(Object.keys(all[0]?.fields ?? {}), ["account"])
})

t.test("given an adapter in a package, when it places calls, then `leave` is always called first", async (t) => {
  const plugin = (originate: string) =>
    acme.replace('() => Effect.fail(new OriginateRefused({ reason: "unreachable", detail: "" }))', originate)
  const done = `Effect.sync(() => { request.note("sent"); return { providerCallId: "x" } })`
  const asking = `(request) => Effect.suspend(() => request.leave() ? ${done} : Effect.fail(new OriginateRefused({ reason: "permit_lapsed", detail: "" })))`
  await install("voice-adapter-silent", plugin(`(request) => ${done}`))
  await install("voice-adapter-asking", plugin(asking))
  await install("voice-adapter-fickle", plugin(`(request) => request.to === "+15550001" ? ${done} : (${asking})(request)`))
  const check = async (
    name: string,
    numbers: ReadonlyArray<string>,
    answers: ReadonlyArray<boolean>,
    expected: ReadonlyArray<string>,
    faults: number
  ) => {
    const { connect } = await connected(name)
    const notes: Array<string> = []
    const left = [...answers]
    const logged: Array<unknown> = []
    await Effect.gen(function* () {
      const trunk = yield* connect
      for (const to of numbers) {
        const leave = () => {
          notes.push("asked")
          return left.shift() ?? true
        }
        const request = { callId: newCallId(), from: undefined, leave, note: (word: string) => notes.push(word), ...usual, to }
        yield* Effect.catch(trunk.originate(request), ({ _tag }) => Effect.sync(() => notes.push(_tag)))
      }
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))])), Effect.runPromise)
    t.strictSame(notes, expected, name)
    t.equal(logged.length, faults, "and the log says once that it does not ask")
  }
  const twice = ["+15550002", "+15550003"]
  await check("voice-adapter-silent", twice, [], ["asked", "sent", "asked", "sent"], 1)
  await check("voice-adapter-silent", twice, [false, false], ["asked", "OriginateRefused", "asked", "OriginateRefused"], 0)
  await check("voice-adapter-asking", twice, [], ["asked", "asked", "sent", "asked", "sent"], 0)
  await check("voice-adapter-asking", twice, [true, false, false], ["asked", "asked", "OriginateRefused", "asked", "OriginateRefused"], 0)
  await check(
    "voice-adapter-fickle",
    ["+15550002", "+15550001", "+15550001", "+15550002"],
    [],
    ["asked", "asked", "sent", "sent", "asked", "sent", "asked", "asked", "sent"],
    1
  )
})

t.test("given an adapter in a package, then all of its features reach the engine", async (t) => {
  const source = acme
    .replace("export default", "class Line { #name = 'acme'; get name() { return this.#name } retire = Effect.void }\n  export default")
    .replace(
      'Effect.succeed({ originate: () => Effect.fail(new OriginateRefused({ reason: "unreachable", detail: "" })) })',
      "Effect.succeed(new Line())"
    )
    .replace("connect:", "verify: (config, { tell }) => Effect.sync(() => tell()), connect:")
  const others = ["hangup", "lookup", "openMedia", "sendDtmf", "transfer", "adopt", "mayAppear", "reconnect", "endpoints", "statusOf"]
  const verbs = ["originate", ...others]
  const methods = verbs.map((verb) => `${verb}() { return [this.#name, "${verb}"] }`).join("\n")
  await install("voice-adapter-able", source.replace("get name()", `${methods}\n get name()`))
  await install("voice-adapter-plain", acme)
  const trunkOf = async (name: string) => {
    const { adapter, connect } = await connected(name)
    const trunk = await Effect.runPromise(Effect.scoped(connect))
    return { hasVerify: adapter?.verify !== undefined, trunk }
  }
  const able = await trunkOf("voice-adapter-able")
  t.equal(able.hasVerify, true, "a test of its configurations")
  for (const verb of others) t.strictSame(Reflect.apply(Reflect.get(able.trunk, verb), undefined, []), ["acme", verb], "with its own state")
  t.ok(Effect.isEffect(able.trunk.retire))
  const plain = await trunkOf("voice-adapter-plain")
  t.strictSame([plain.hasVerify, plain.trunk.transfer, plain.trunk.endpoints], [false, undefined, undefined], "and nothing that it cannot")
})

t.test("given a package with an engine and an effect of its own, when it is loaded, then it shares those of this engine", async (t) => {
  const place = await install("voice-adapter-alone", `${acme}\n  export { Effect, OriginateRefused }`)
  await install("trunkline", 'throw new Error("another engine")', { below: place, exports: { "./adapter": "./index.js" } })
  await install("effect", 'throw new Error("another effect")', { below: place })
  await registryOf("voice-adapter-alone")
  const shared = await import(join(place, "index.js"))
  t.equal(shared.OriginateRefused, OriginateRefused)
  t.equal(shared.Effect.succeed, Effect.succeed)
})

type Package = readonly [name: string, source: string, said: RegExp, exports?: unknown]
const unloadable: ReadonlyArray<Package> = [
  [
    "throws",
    "const limits = undefined\nexport default limits.callsPerSecond",
    /^The package throws fails while it loads: TypeError: Cannot read properties of undefined.*\n.*throws\/index\.js:2:/
  ],
  ["throws-words", 'throw "no licence"', /fails while it loads: no licence$/],
  ["misspelt", "export default {{", /fails while it loads: .*SyntaxError/s],
  [
    "former-names",
    'import { connectTrunk } from "trunkline/adapter"\nexport default connectTrunk',
    /fails while it loads: .*does not provide an export named 'connectTrunk'/s
  ],
  ["hungry", 'import "left-pad"\nexport default {}', /^The package hungry needs the package left-pad, which is not installed$/],
  ["hungry-scoped", 'import "@acme/voice/client"\nexport default {}', /needs the package @acme\/voice, which is not installed$/],
  [
    "hungry-old",
    'import { createRequire } from "node:module"\ncreateRequire(import.meta.url)("left-pad")\nexport default {}',
    /needs the package left-pad, which is not installed$/
  ],
  ["incomplete", 'import "./other.js"\nexport default {}', /fails while it loads: .*Cannot find module '.*other\.js'/s],
  ["unbuilt", "export default {}", /fails while it loads: .*Cannot find module '.*src\/index\.ts'/s, "./src/index.ts"],
  ["closed", "export default {}", /fails while it loads: .*No "exports" main defined/s, { "./other": "./index.js" }]
]
t.test("given a package that cannot be loaded, when it is named, then the start is refused with the package's own error", async (t) => {
  const missing = `which is neither a built-in adapter (${builtIn.map(({ manifest }) => manifest.provider).join(", ")}) nor a package installed in`
  t.match(await refusalOf("nobody"), `ADAPTERS names nobody, ${missing} `)
  for (const [name, source, expected, exports] of unloadable) {
    await install(name, source, exports === undefined ? {} : { exports })
    const said = await refusalOf(name)
    t.match(said, expected, name)
    t.match(said, name)
  }
  const typed = await install("typed", "", { exports: "./index.ts" })
  await writeFile(join(typed, "index.ts"), "export default {}")
  t.match(await refusalOf("typed"), /typed fails while it loads: .*Stripping types is currently unsupported for files under node_modules/s)
})

const adapterWith = (more: string, fields = "{}") =>
  `export default { manifest: { ...${manifest}, ${more} }, fields: ${fields}, connect: () => {} }`
const normal = (form: string) => adapterWith("", `{ account: { normal: ${form} } }`)
const unknown = "its field account has an unknown normal form"
const forms = "there are trimmed, token, address, pem and { domain }"
const noAdapters: ReadonlyArray<readonly [name: string, source: string, said: string]> = [
  ["no-default", "export const x = 1", "The package no-default is not an adapter for this engine: it has no default export"],
  ["no-object", "export default () => {}", "its default export is not an object"],
  ["former-contract", adapterWith("contract: 1"), "version 1 of the adapter contract, not 2"],
  ["bad-name", adapterWith('provider: "A B"'), "its provider name"],
  ["ari,same-name", adapterWith('provider: "ari"'), "two adapters for the provider ari"],
  ["bad-normal", normal('"upper"'), `The package bad-normal is not an adapter for this engine: ${unknown}, "upper": ${forms}`],
  ["inherited-normal", normal('"constructor"'), `${unknown}, "constructor"`],
  ["bad-domain", normal("{ domain: 7 }"), `${unknown}, {"domain":7}`],
  ["normal", normal('"token"'), "let in"],
  ["normal-domain", normal('{ domain: "acme.example" }'), "let in"]
]
t.test("given packages that are not adapters, when they are named, then the start is refused and says why", async (t) => {
  for (const [names, source, said] of noAdapters) {
    await install(names.replace("ari,", ""), source)
    t.match(await refusalOf(names), said, names)
  }
})

const services = (settings: Readonly<Record<string, string>> = {}) =>
  runLive(
    ServiceRegistry.use(Effect.succeed).pipe(
      Effect.provide(Layer.provide(layer, [Config.layerOf({ ADAPTERS: "ari", HEARING: "off", ...settings }), FliteVoices.layer()]))
    )
  )
const modelManifest = `{ contract: 1, kind: "llm", provider: "parrot", title: "Parrot", description: "" }`
const parrot = (fields: string, name = "parrot") => `
  import { Effect, Stream } from "effect"
  import { Credential, defineLanguageModel } from "trunkline/adapter"
  export default defineLanguageModel({
    manifest: { ...${modelManifest}, provider: "${name}" },
    fields: ${fields},
    open: () => Effect.succeed({ provider: "parrot", model: "m", answer: () => Stream.empty })
  })`

const hosted = [
  "anthropic",
  "atlascloud",
  "azure",
  "google",
  "groq",
  "huggingface",
  "minimax",
  "openai",
  "openrouter",
  "sarvam",
  "speaches"
]
const builtInModels = [...hosted, "embedded", "none"].toSorted()

t.test("given no names, then the built-in services are there, and PocketSphinx only if its folder is configured", async (t) => {
  const { all, defaults } = await services()
  const names = (["llm", "tts", "stt"] as const).map((kind) => all(kind).map(({ manifest }) => manifest.provider))
  t.strictSame(names.slice(0, 2), [builtInModels, ["cartesia", "deepgram", "elevenlabs", "flite", "openai", "speaches"]])
  t.strictSame(names[2], ["cartesia", "deepgram", "elevenlabs", "none", "openai", "speaches"])
  t.match(defaults, { llm: "embedded", tts: "flite" })
  for (const kind of ["llm", "tts", "stt"] as const) {
    for (const { fields } of all(kind)) {
      const unknown = Object.entries(fields).filter(([name, { sensitive }]) => sensitive && !isSecret(name))
      t.strictSame(unknown, [], "the names of secrets say so")
    }
  }
  t.match(await refusal(services({ POCKETSPHINX_DIR: "nowhere" })), /^POCKETSPHINX_DIR names .*nowhere, which PocketSphinx is not in$/)
})

t.test("given PocketSphinx in a folder, then it is the recognizer of agents that choose none", async (t) => {
  // Only its files are looked for: no process is started before somebody is listened to.
  const files = ["lib/x86_64-linux-gnu/libsphinxbase.so.3", "lib/x86_64-linux-gnu/libpocketsphinx.so.3"]
  const model = "share/pocketsphinx/model/en-us"
  for (const file of [...files, `${model}/en-us/mdef`, `${model}/cmudict-en-us.dict`]) {
    const path = join(folder, "sphinx/usr", file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, "")
  }
  const { defaults, find } = await services({ POCKETSPHINX_DIR: join(folder, "sphinx") })
  t.equal(defaults.stt, "pocketsphinx")
  t.equal((await services({ POCKETSPHINX_DIR: "off" })).defaults.stt, "none")
  t.strictSame(find("stt", "pocketsphinx")?.manifest.languages, ["en"])
})

t.test("given a model of the operator's own in a folder, then it is the recognizer of agents that choose none", async (t) => {
  const hearingIn = async (name: string, files: Readonly<Record<string, string>>) => {
    const path = join(folder, "models", name)
    await mkdir(path, { recursive: true })
    for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text)
    return services({ HEARING: path })
  }
  const whisper = await hearingIn("whisper", { "tiny-encoder.onnx": "", "tiny-decoder.int8.onnx": "", "tiny-tokens.txt": "" })
  t.equal(whisper.defaults.stt, "moonshine")
  t.equal(whisper.find("stt", "moonshine")?.manifest.languages, undefined)
  const described = JSON.stringify({ languages: ["zh"], modelConfig: { senseVoice: { model: "model.onnx" }, tokens: "tokens.txt" } })
  const sense = await hearingIn("sense", { "model.onnx": "", "tokens.txt": "", "recognizer.json": described })
  t.strictSame(sense.find("stt", "moonshine")?.manifest.languages, ["zh"])
  t.match(await refusal(hearingIn("empty", {})), /^HEARING names .*empty, which is no folder with a model: it has neither recognizer\.json/)
  t.match(await refusal(hearingIn("bad", { "recognizer.json": "{}" })), /: its recognizer\.json has no modelConfig$/)
  t.match(await refusal(services({ HEARING: join(folder, "nowhere") })), /^HEARING names .*nowhere.*ENOENT/)
})

t.test("given services in packages, when they are named, then they are available beside the built-in ones", async (t) => {
  await install("language-model-parrot", parrot(`{ api_key: Credential.secret({ label: "Key" }) }`))
  await install(
    "end-of-turn-patient",
    `import { Effect } from "effect"
     import { defineEndOfTurn } from "trunkline/adapter"
     const model = { provider: "patient", model: "m", probability: () => Effect.succeed(0) }
     const manifest = { ...${modelManifest}, kind: "end_of_turn", provider: "patient" }
     export default defineEndOfTurn({ manifest, fields: {}, open: () => Effect.succeed(model) })`
  )
  const { all, find } = await services({ SERVICES: "language-model-parrot,end-of-turn-patient" })
  const names = (["llm", "end_of_turn"] as const).map((kind) => all(kind).map(({ manifest }) => manifest.provider))
  t.strictSame(names, [builtInModels.concat("parrot").toSorted(), ["patient", "rules"]])
  t.match(find("llm", "parrot")?.faultsOf({}), [{ field: "api_key", message: "Field required" }])
})

const plain = (manifest: string, rest = "fields: {}, faultsOf: () => [], open: () => {}") =>
  `export default { manifest: { ...${modelManifest}, ${manifest} }, ${rest} }`
const secretField = parrot(`{ pin: Credential.secret({ label: "PIN" }) }`)
const addressField = parrot(`{ place: Credential.address({ label: "Place" }) }`)
const noServices: ReadonlyArray<Package> = [
  ["service-throws", "export default undefined.x", /^The package service-throws fails while it loads: TypeError/],
  ["no-service", acme, /^The package no-service is not a service for this engine: it follows version 2 of the contract of services/],
  ["service-kind", plain(`kind: "embeddings"`), /its kind is "embeddings", not one of end_of_turn, llm, stt, tts$/],
  ["service-inherited", plain(`kind: "constructor"`), /its kind is "constructor"/],
  ["service-name", plain(`provider: "A B"`), /its provider name/],
  ["service-none", plain(`provider: "none"`), /its provider name/],
  ["service-closed", plain("", "fields: {}, faultsOf: () => []"), /it has no open function/],
  ["service-deaf", plain(`kind: "stt"`), /it has no recognizer function/],
  ["service-shown", secretField, /its secret field pin needs a name that says so, such as api_key/],
  ["service-place", addressField, /its address field place needs a name that ends in _url/],
  ["service-twice", parrot("{}", "openai"), /^SERVICES names a second llm provider openai$/]
]
t.test("given a package that is not a service, when it is named, then the start is refused and says why", async (t) => {
  const missing = await refusal(services({ SERVICES: "no-such-service" }))
  t.match(missing, /^SERVICES names no-such-service, which is not a package installed in /)
  for (const [name, source, expected] of noServices) {
    await install(name, source)
    t.match(await refusal(services({ SERVICES: name })), expected, name)
  }
})
