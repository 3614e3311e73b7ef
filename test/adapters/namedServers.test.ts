/** Services that speak OpenAI's interface under a name of their own: where they are asked, with which key, for which model. */
import { Effect } from "effect"
import t, { type Test } from "tap"
import { namedServers } from "#adapters/voice/openai/named.ts"
import type { LanguageModelProvider } from "#core/model/ModelProvider.ts"
import { readConfig } from "#core/model/ServiceProvider.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { aRequest, answered, textOf } from "./modelScene.ts"

const apiKey = "sk-named-k3y"
const egress = webhooksOf({ privateWebhooks: true })
const providerOf = (name: string): LanguageModelProvider => {
  const found = namedServers.find(({ manifest }) => manifest.provider === name)
  if (found === undefined) throw new Error(name)
  return found
}

/** The request that a configuration leads to. */
const asked = async (t: Test, name: string, config: (emulator: OpenAiEmulator) => object, isAzure = false) => {
  const emulator = await OpenAiEmulator.start({ apiKey, isAzure })
  t.teardown(() => emulator.stop())
  emulator.script({ text: ["Yes."] })
  const open = providerOf(name).open({ api_key: apiKey, ...config(emulator) }, { egress })
  const answer = await runLive(
    Effect.orDie(Effect.flatMap(open, (model) => Effect.map(answered(model, aRequest), (one) => ({ ...one, model }))))
  )
  t.strictSame([answer.error, textOf(answer.parts), answer.model.provider], [undefined, "Yes.", name], name)
  return emulator.requests
}

t.test("given a name and nothing else, then the address and the model are those of the existing product", async (t) => {
  const defaults = namedServers.map((provider) => {
    const { config } = readConfig(provider, {}, 0)
    return [provider.manifest.provider, config["base_url"], config["model"], config["temperature"]]
  })
  t.strictSame(defaults, [
    ["azure", undefined, "gpt-4.1-mini", ""],
    ["huggingface", "https://router.huggingface.co/v1", "openai/gpt-oss-120b:cerebras", ""],
    ["atlascloud", "https://api.atlascloud.ai/v1", "qwen/qwen3.5-flash", ""],
    ["groq", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile", ""],
    ["minimax", "https://api.minimax.io/v1", "MiniMax-M2.7", "1"],
    ["openrouter", "https://openrouter.ai/api/v1", "openai/gpt-4.1", ""],
    ["sarvam", "https://api.sarvam.ai/v1", "sarvam-105b", "0.5"],
    ["speaches", "http://localhost:11434/v1", "llama3", ""]
  ])
})

t.test("given a name with its address, then it is asked there with its key, under its own name", async (t) => {
  for (const name of ["atlascloud", "groq", "huggingface", "minimax", "openrouter", "sarvam", "speaches"]) {
    const requests = await asked(t, name, ({ url }) => ({ base_url: url }))
    t.match(requests, [{ headers: { authorization: `Bearer ${apiKey}`, "x-hf-bill-to": undefined } }], name)
  }
  const requests = await asked(t, "minimax", ({ url }) => ({ base_url: url, temperature: 0.3, model: "M" }))
  t.match(requests, [{ body: { model: "M", temperature: 0.3 } }])
})

t.test("given Azure, then the deployment is asked below the endpoint, with the key in Azure's header", async (t) => {
  for (const more of ["", "/", "/openai/v1/"]) {
    const requests = await asked(t, "azure", ({ origin }) => ({ endpoint: origin + more, model: "my-deployment" }), true)
    t.match(
      requests,
      [{ path: "/openai/v1/chat/completions", headers: { authorization: undefined }, body: { model: "my-deployment" } }],
      more
    )
  }
  t.match(providerOf("azure").faultsOf({ api_key: "k" }), [{ field: "endpoint", isMissing: true }])
  t.match(providerOf("azure").faultsOf({ api_key: "k", endpoint: "file:///etc" }), [{ field: "endpoint" }])
})

t.test("given Hugging Face with an organization that pays, then it is named", async (t) => {
  const requests = await asked(t, "huggingface", ({ url }) => ({ base_url: url, bill_to: "acme" }))
  t.match(requests, [{ headers: { "x-hf-bill-to": "acme" } }])
  t.match(providerOf("huggingface").faultsOf({ api_key: "k", bill_to: "a\nb" }), [{ field: "bill_to" }], "a header has one line")
})

t.test("given a server of one's own, then it needs no key, and the others do", async (t) => {
  const keyless = namedServers.filter(
    (provider) => !provider.faultsOf({ endpoint: "https://a.example" }).some(({ field }) => field === "api_key")
  )
  t.strictSame(
    keyless.map(({ manifest }) => manifest.provider),
    ["speaches"]
  )
})
