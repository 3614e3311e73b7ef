/** What services are asked when their keys are saved, and which of their answers count against a key. */
import { Effect, Exit } from "effect"
import { createServer } from "node:http"
import t, { type Test } from "tap"
import { builtInServices, usualServices } from "#adapters/services.ts"
import { refusedKeys } from "#core/model/KeyTrials.ts"
import { noModels } from "#core/model/ModelConfiguration.ts"
import type { JsonObject } from "#core/Json.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { localPort } from "#test/support/localPort.ts"

const host = { egress: webhooksOf({ privateWebhooks: true }) }
const key = "sk-0123456789abcdef"

interface Reply {
  readonly status: number
  readonly body?: object
}
/** A service that answers everything in this way. */
const serviceOf = async (t: Test, reply: () => Reply) => {
  const asked: Array<string> = []
  const server = createServer(({ headers, method, url }, response) => {
    const {
      "api-key": azure,
      "anthropic-version": version,
      authorization,
      "x-api-key": plain,
      "x-goog-api-key": goog,
      "xi-api-key": xi
    } = headers
    const sent = [authorization, azure, plain, goog, xi].filter((one) => one !== undefined).join(" ")
    asked.push(`${method} ${url} ${sent.replace(key, "KEY")}${version === undefined ? "" : ` ${String(version)}`}`)
    const { body = {}, status } = reply()
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  const port = await localPort(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, url: `http://127.0.0.1:${port}` }
}

const providerOf = (kind: string, name: string) => {
  const found = builtInServices.find(({ manifest }) => manifest.kind === kind && manifest.provider === name)
  if (found?.probe === undefined) throw new Error(`${kind} ${name} cannot be asked`)
  return found.probe
}
const tried = (kind: "llm" | "stt" | "tts", provider: string, config: JsonObject) =>
  Effect.runPromise(Effect.exit(providerOf(kind, provider)({ model: "m", voice: "v", api_key: key, ...config }, host)))

/** Kind, provider, the path that follows the service's address in `base_url`, and what is asked. */
const services: ReadonlyArray<readonly ["llm" | "stt" | "tts", string, string, string]> = [
  ["llm", "openai", "/v1", "GET /v1/models Bearer KEY"],
  ["llm", "groq", "/openai/v1", "GET /openai/v1/models Bearer KEY"],
  ["llm", "anthropic", "", "GET /v1/models?limit=1 KEY 2023-06-01"],
  ["llm", "google", "", "GET /v1beta/models?pageSize=1 KEY"],
  ["stt", "openai", "/v1", "GET /v1/models Bearer KEY"],
  ["tts", "openai", "/v1/", "GET /v1/models Bearer KEY"],
  ["stt", "deepgram", "", "GET /v1/auth/token Token KEY"],
  ["tts", "deepgram", "", "GET /v1/auth/token Token KEY"],
  ["stt", "elevenlabs", "", "GET /v1/models KEY"],
  ["tts", "elevenlabs", "", "GET /v1/models KEY"],
  ["stt", "cartesia", "", "GET /voices?limit=1 KEY"],
  ["tts", "cartesia", "", "GET /voices?limit=1 KEY"]
]

t.test("given a key that is saved, then the service is asked for something small, in its own way", async (t) => {
  for (const [kind, provider, path, expected] of services) {
    const { asked, url } = await serviceOf(t, () => ({ status: 200, body: { data: [] } }))
    t.ok(Exit.isSuccess(await tried(kind, provider, { base_url: url + path })), `${kind} ${provider}`)
    t.strictSame(asked, [expected])
  }
  const { asked, url } = await serviceOf(t, () => ({ status: 200 }))
  await tried("llm", "azure", { endpoint: url })
  t.strictSame(asked, ["GET /openai/v1/models KEY"])
  await tried("tts", "openai", { base_url: url, api_key: [key, "sk-another"] })
  t.match(asked.slice(1), [/KEY/, /sk-another/], "each of several keys")
})

t.test("given what a service answers, then only what is against the key, the account or the address counts", async (t) => {
  let reply: Reply = { status: 200 }
  const { url } = await serviceOf(t, () => reply)
  const outcome = async (provider: string, answer: Reply) => {
    reply = answer
    const exit = await tried("llm", provider, { base_url: url })
    return Exit.isSuccess(exit) ? "taken" : /"(auth|credit|refused)"/.exec(JSON.stringify(exit))?.[1]
  }
  const answers: ReadonlyArray<readonly [string, Reply, string]> = [
    ["openai", { status: 401, body: { error: { code: "invalid_api_key" } } }, "auth"],
    ["openai", { status: 401, body: { detail: { status: "missing_permissions" } } }, "taken"],
    ["openai", { status: 403 }, "taken"],
    ["openai", { status: 404 }, "taken"],
    ["openai", { status: 429, body: { error: { code: "insufficient_quota" } } }, "credit"],
    ["openai", { status: 429 }, "taken"],
    ["openai", { status: 400 }, "taken"],
    ["openai", { status: 500 }, "taken"],
    ["google", { status: 400, body: { error: { code: 400, status: "INVALID_ARGUMENT" } } }, "refused"]
  ]
  for (const [provider, answer, expected] of answers) t.equal(await outcome(provider, answer), expected, JSON.stringify(answer))
})

t.test("given services that are saved, then what they say against their keys is told in words, without the key", async (t) => {
  const registry = await Effect.runPromise(Effect.provide(ServiceRegistry, ServiceRegistry.layerOf(builtInServices, usualServices)))
  const wrong = await serviceOf(t, () => ({ status: 401, body: { detail: { status: "invalid_api_key", message: `No: ${key}` } } }))
  const right = await serviceOf(t, () => ({ status: 200 }))
  const models = {
    ...noModels,
    llm: { provider: "anthropic", model: "m", api_key: key, base_url: "http://127.0.0.1:9" },
    tts: { provider: "elevenlabs", api_key: key, base_url: wrong.url },
    stt: { provider: "deepgram", api_key: key, base_url: right.url }
  }
  const words = await Effect.runPromise(refusedKeys(registry, host, models, ["llm", "tts", "stt"]))
  t.match(words, [
    /^llm: anthropic could not be asked whether it takes the key: .*ECONNREFUSED/,
    /^tts: elevenlabs does not take the key: HTTP 401 invalid_api_key$/
  ])
  t.notMatch(words.join(), key)
  const unusable = { ...noModels, tts: { provider: "elevenlabs", api_key: key, base_url: "no address" } }
  t.strictSame(await Effect.runPromise(refusedKeys(registry, host, unusable, ["tts"])), [], "what cannot be used is not asked")
})
