import { Effect } from "effect"
import fc from "fast-check"
import { isDeepStrictEqual } from "node:util"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { problemsOf as configurationProblems } from "#core/agent/AgentConfigurations.ts"
import { drawnFrom, isSecret, masked, stillMasked, unmasked } from "#core/model/ModelSecrets.ts"
import { configurationDefaults } from "#core/agent/ConfigurationDefaults.ts"
import {
  changed,
  faultOf,
  isEmpty,
  type ModelChanges,
  type ModelConfiguration,
  noModels,
  problemsOf
} from "#core/model/ModelConfiguration.ts"
import {
  isComplete,
  isTooLarge,
  type ModelDocument,
  problemsIn,
  servicesOf,
  withServices,
  withStoredSecrets
} from "#core/model/ModelDocument.ts"
import { problemOf } from "#core/model/ServiceChecks.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import type { ServiceKind } from "#core/model/VoiceServices.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { servicesLayer } from "#test/support/services.ts"

const after = (...changes: ReadonlyArray<ModelChanges>) => changes.reduce(changed, noModels)
const openai = { provider: "openai", api_key: "sk-first-1234", model: "a" }

t.test("given the names of fields that clients write", async (t) => {
  t.test("when one names a secret, then it is distinguished from names that only sound alike", async (t) => {
    const secrets = "api_key qa_api_key api_keys aws_access_key aws_secret_key credentials password auth_token apiKey".split(" ")
    const unknown = secrets.filter((name) => !isSecret(name))
    t.strictSame(unknown, [])
    const others = ["max_tokens", "storage_key", "key", "credential_uuid", "api_key_id", "tokenizer", "model", "secretary", "voice"]
    t.strictSame(others.filter(isSecret), [])
  })
})

t.test("given secrets", async (t) => {
  t.test("when they are nested, numbers or several, then only their last four characters show", async (t) => {
    const shown = masked({
      credentials: { client: "abcdefgh", keys: ["ijklmnop", { inner: 1234567 }], on: true },
      headers: [{ password: 98765 }],
      max_tokens: 100
    })
    t.strictSame(shown, {
      credentials: { client: "****efgh", keys: ["****mnop", { inner: "***4567" }], on: true },
      headers: [{ password: "*8765" }],
      max_tokens: 100
    })
  })

  t.test("when nodes of an agent have them, then each comes back to its node, wherever that has moved, and to no new one", async (t) => {
    const [first, second] = [
      { id: "q", data: { qa_api_key: "sk-secret-1234" } },
      { id: "r", data: { qa_api_key: "sk-other-5678" } }
    ]
    const stored = { nodes: [first, second], llm: { api_key: "abc" } }
    t.match(masked(stored), { nodes: [{ data: { qa_api_key: "**********1234" } }, {}], llm: { api_key: "***" } })
    const moved = { ...stored, nodes: [second, first] }
    t.strictSame(unmasked(masked(moved), stored), moved)
    const changed = {
      nodes: [
        { ...first, data: { qa_api_key: "sk-new" } },
        { id: "new", data: { qa_api_key: "**********1234" } }
      ]
    }
    t.strictSame(unmasked(changed, stored), changed)
  })

  t.test("when one is a placeholder filled in during the call, then it is shown", async (t) => {
    const content = { token: "{{ access_token }}", api_key: "{{x}}sk-12345" }
    t.strictSame(masked(content), { token: "{{ access_token }}", api_key: "*********2345" })
    t.strictSame(unmasked(masked(content), content), content)
  })

  t.test("when two look the same masked, then each comes back once, and one that was taken out stays out", async (t) => {
    const stored = { api_key: ["one-1111-same", "two-2222-same", "last-3333"] }
    t.strictSame(unmasked(masked(stored), stored), stored)
    t.strictSame(unmasked({ api_key: ["*****3333", "sk-new"] }, stored), { api_key: ["last-3333", "sk-new"] })
    t.strictSame(unmasked({ api_key: "*****3333" }, stored), { api_key: "last-3333" })
  })

  t.test("when a mask stands for nothing, then its secret is named, wherever it is", async (t) => {
    t.strictSame(stillMasked({ a: [{ b: 1 }, { api_key: ["fine", "****9999"] }] }), [{ name: "api_key", path: ["a", 1, "api_key"] }])
    t.strictSame(stillMasked({ credentials: { user: { name: "***" } } }), [{ name: "credentials", path: ["credentials"] }])
    t.strictSame(stillMasked({ prompt: "*** be kind ***", api_key: "sk-**" }), [])
    t.strictSame(stillMasked({ password: "**cdef" }), [{ name: "password", path: ["password"] }])
  })

  t.test("when a mask comes back beside another provider, then the stored secret is not given to that provider", async (t) => {
    const check = (sent: JsonObject, stored: JsonObject, path: ReadonlyArray<string | number>) => {
      t.strictSame(unmasked(sent, stored), sent)
      t.strictSame(drawnFrom(sent, stored).keptBack, [{ name: path.at(-1), path }])
    }
    const shown = "*******1234"
    check({ provider: "groq", api_key: shown }, { provider: "openai", api_key: "sk-key-1234" }, ["api_key"])
    check({ provider: "groq", api_key: shown }, { api_key: "sk-key-1234" }, ["api_key"])
    check({ provider: "groq", own: [{ token: shown }] }, { provider: "openai", own: [{ token: "sk-key-1234" }] }, ["own", 0, "token"])
    check({ qa_provider: "azure", qa_api_key: shown }, { qa_provider: "openai", qa_api_key: "sk-key-1234" }, ["qa_api_key"])
    check({ qaProvider: "azure", qaApiKey: shown }, { qaProvider: "openai", qaApiKey: "sk-key-1234" }, ["qaApiKey"])
  })

  t.test("when the provider of something else changes, or is left out, then the secret is kept", async (t) => {
    const check = (sent: JsonObject, stored: JsonObject) => {
      t.match(unmasked(sent, stored), { api_key: "sk-key-1234" })
      t.strictSame(drawnFrom(sent, stored).keptBack, [])
    }
    check({ qa_provider: "azure", api_key: "*******1234" }, { qa_provider: "openai", api_key: "sk-key-1234" })
    check({ api_key: "*******1234" }, { provider: "openai", api_key: "sk-key-1234" })
    check({ provider: null, api_key: "*******1234" }, { provider: "openai", api_key: "sk-key-1234" })
  })

  t.test("when anything is read and sent back, then it is unchanged", async () => {
    const name = fc.constantFrom("api_key", "credentials", "model", "nested", "token", "list")
    const { json } = fc.letrec<{ readonly json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>("same-1111", "other-1111", "ab", "", "{{x}}", 5, 123456, true, null),
        fc.array(tie("json"), { maxLength: 4 }),
        fc.dictionary(name, tie("json"), { maxKeys: 4, noNullPrototype: true })
      )
    }))
    const content = fc.dictionary(name, json, { maxKeys: 5, noNullPrototype: true })
    forAllOf({ numRuns: 300 }, content, (stored) => isDeepStrictEqual(unmasked(masked(stored), stored), stored))
  })
})

t.test("given a service that is set up", async (t) => {
  const llm = (sent: JsonObject) => after({ llm: openai }, { llm: sent }).llm

  t.test("when it is set again, then it is replaced, and only secrets that were left out or masked stay", async (t) => {
    t.strictSame(llm({ provider: "openai", temperature: 1 }), { provider: "openai", temperature: 1, api_key: "sk-first-1234" })
    t.strictSame(llm({ model: "b", api_key: null }), { model: "b", api_key: "sk-first-1234" })
    t.strictSame(llm({ provider: "openai", api_key: "*********1234" }), { provider: "openai", api_key: "sk-first-1234" })
    t.strictSame(llm({ provider: "openai", api_key: "sk-new" }), { provider: "openai", api_key: "sk-new" })
    t.strictSame(llm({ provider: "openai", api_key: "" }), { provider: "openai", api_key: "" })
  })

  t.test("when the provider is another one, then it gets none of the previous one's keys", async (t) => {
    t.strictSame(llm({ provider: "groq" }), { provider: "groq" })
    const moved = after({ llm: openai }, { llm: { provider: "groq", api_key: "*********1234" } })
    t.match(faultOf(moved), { _tag: "ModelSecretMasked", kind: "llm", name: "api_key" })
    t.equal(faultOf(after({ llm: openai })), undefined)
  })

  t.test("when nothing of it is left, then it is removed", async (t) => {
    t.ok(isEmpty(after({ llm: openai, isRealtime: true }, { llm: {}, isRealtime: false })))
    t.notOk(isEmpty(after({ isRealtime: true })))
    t.strictSame(after({ llm: openai }, { tts: { provider: "flite" } }).llm, openai)
  })
})

t.test("given services that are set up, when they are compared with what the engine has, then what is missing is named", async (t) => {
  const registry = await Effect.runPromise(Effect.provide(ServiceRegistry, servicesLayer))
  const rules = { registry, egress: undefined }
  const messages = (...changes: ReadonlyArray<ModelChanges>) =>
    problemsOf(after(...changes), (kind, service) => problemOf(rules, kind, service)).map(({ kind, message }) => `${kind}: ${message}`)
  const onlyOf = (kind: ServiceKind) =>
    registry
      .all(kind)
      .map(({ manifest }) => manifest.provider)
      .join(", ")
  t.strictSame(messages(), [])
  t.strictSame(messages({ tts: { provider: "flite", voice: "slt" } }), [])
  t.strictSame(messages({ tts: { provider: "flite" } }), [])
  t.strictSame(messages({ tts: { provider: "flite", voice: "anna" } }), [
    "tts: voice: Input should be 'slt' or 'rms' or 'awb' or 'kal16' or 'kal'"
  ])
  t.strictSame(messages({ llm: { ...openai, model: "" }, stt: { model: "m" } }), ["llm: model: Field required", "stt: No provider is set"])
  t.strictSame(messages({ tts: { provider: "constructor" } }), [
    `tts: This engine has no tts provider 'constructor', only ${onlyOf("tts")}`
  ])
  t.strictSame(messages({ tts: { provider: "x" }, realtime: { provider: "y" }, isRealtime: true }), [
    `realtime: This engine has no realtime provider 'y', only ${onlyOf("realtime")}`
  ])
  t.strictSame(messages({ realtime: { provider: "y" } }), [])
  t.strictSame(messages({ isRealtime: true }), ["realtime: No realtime model is configured"])
})

t.test("given the settings that an agent has by default, when they are stored, then nothing is wrong with them", async (t) => {
  t.strictSame(configurationProblems(configurationDefaults), [])
  t.equal(configurationDefaults["max_call_duration"], 300)
})

// As JSON is parsed: objects with the usual prototype.
const plain = { noNullPrototype: true } as const
const orNull = <A>(one: fc.Arbitrary<A>) => fc.option(one, { nil: null })
const service = orNull(
  fc.record({ provider: fc.constantFrom("openai", "groq", "dograh"), api_key: fc.constantFrom("sk-first-1111", "sk-other-2222") }, plain)
)
const configuration: fc.Arbitrary<ModelConfiguration> = fc.record(
  { llm: service, tts: service, stt: service, embeddings: service, realtime: service, isRealtime: fc.boolean() },
  plain
)
const document: fc.Arbitrary<ModelDocument> = fc.record(
  {
    version: fc.constant(2),
    mode: fc.constantFrom("byok", "dograh"),
    dograh: orNull(fc.record({ api_key: fc.constantFrom("hosted-1111", "hosted-2222"), voice: fc.string() }, plain)),
    byok: orNull(
      fc.record(
        {
          mode: fc.constantFrom("pipeline", "realtime"),
          pipeline: orNull(fc.record({ llm: service, tts: service, stt: service, embeddings: service }, plain)),
          realtime: orNull(fc.record({ realtime: service, llm: service, embeddings: service }, plain))
        },
        plain
      )
    )
  },
  plain
)

const openaiDocument: ModelDocument = {
  version: 2,
  mode: "byok",
  dograh: null,
  byok: {
    mode: "pipeline",
    pipeline: { llm: openai, tts: { provider: "flite" }, stt: { provider: "whisper" }, embeddings: null },
    realtime: null
  }
}
const withLlm = (llm: JsonObject): ModelDocument => withServices(openaiDocument, { ...servicesOf(openaiDocument), llm }) ?? openaiDocument

t.test("given a configuration that clients know in two shapes", async (t) => {
  t.test("when it is written in one, then the other says the same", async () => {
    const before = fc.option(document, { nil: undefined })
    forAllOf({ numRuns: 500 }, before, configuration, (before, services) =>
      isDeepStrictEqual(servicesOf(withServices(before, services)), services)
    )
  })

  t.test("when nothing changes in one, then nothing does in the other", async () => {
    forAllOf({ numRuns: 500 }, document, (before) => withServices(before, servicesOf(before)) === before)
  })

  t.test("when one is changed service by service, then the rest of the other stays", async (t) => {
    const other = { realtime: { provider: "live", api_key: "sk-live" }, llm: { provider: "groq" }, embeddings: null }
    const key = { api_key: "hosted-key-1111" }
    const both: ModelDocument = { ...openaiDocument, dograh: key, byok: openaiDocument.byok && { ...openaiDocument.byok, realtime: other } }
    const after = withServices(both, { ...servicesOf(both), tts: { provider: "cartesia" } })
    t.match(after, { dograh: key, byok: { mode: "pipeline", pipeline: { llm: openai, tts: { provider: "cartesia" } }, realtime: other } })
  })

  t.test("when the mode changes, then the model that both modes use is carried over, and no second copy of its key is left", async (t) => {
    const after = withServices(openaiDocument, { ...servicesOf(openaiDocument), isRealtime: true })
    t.match(after, { byok: { mode: "realtime", realtime: { llm: openai }, pipeline: { llm: null, tts: { provider: "flite" } } } })
  })
})

t.test("given a document that is replaced", async (t) => {
  t.test("when it comes back as it was shown, then it is unchanged", async () => {
    forAllOf({ numRuns: 500 }, document, (before) => {
      // Only secrets are masked, which are texts here: what is shown has the document's own shape.
      const shown = masked(before) as ModelDocument
      return isDeepStrictEqual(withStoredSecrets(shown, before), before)
    })
  })

  t.test("when a mask moves to the other mode, then it stands for that of the same kind of service and provider", async (t) => {
    const shown = { provider: "openai", api_key: "*********1234" }
    const sent = (llm: JsonObject): ModelDocument => ({
      ...openaiDocument,
      byok: { mode: "realtime", pipeline: null, realtime: { realtime: { provider: "live" }, llm, embeddings: null } }
    })
    t.match(withStoredSecrets(sent(shown), openaiDocument), { byok: { realtime: { llm: { api_key: "sk-first-1234" } } } })
    const moved = withStoredSecrets(sent({ ...shown, provider: "groq" }), openaiDocument)
    t.match(problemsIn(moved), [{ path: ["byok", "realtime", "llm", "api_key"], message: /^The api_key appears to be masked/ }])
  })

  t.test("when its mode needs what it does not have, then each is named", async (t) => {
    const missing = (document: ModelDocument) => {
      t.notOk(isComplete(document))
      return problemsIn(document).map(({ message, path }) => `${path.join(".")}: ${message}`)
    }
    t.strictSame(missing({ ...openaiDocument, mode: "dograh" }), ["dograh: Field required"])
    t.strictSame(missing({ ...openaiDocument, byok: null }), ["byok: Field required"])
    t.strictSame(missing({ ...openaiDocument, byok: { mode: "realtime", pipeline: null, realtime: null } }), [
      "byok.realtime: Field required"
    ])
    const nothing = { llm: null, tts: null, stt: null, embeddings: null }
    t.strictSame(missing({ ...openaiDocument, byok: { mode: "pipeline", pipeline: nothing, realtime: null } }), [
      "byok.pipeline.llm: Field required",
      "byok.pipeline.tts: Field required",
      "byok.pipeline.stt: Field required"
    ])
    t.ok(isComplete(openaiDocument))
    t.strictSame(problemsIn(openaiDocument), [])
  })

  t.test("when it is too large, then the limit is exact to the byte", async (t) => {
    const room = 65_536 - Buffer.byteLength(JSON.stringify(withLlm({ text: "" })))
    t.notOk(isTooLarge(withLlm({ text: "x".repeat(room) })))
    t.ok(isTooLarge(withLlm({ text: "x".repeat(room + 1) })))
    t.ok(isTooLarge(withLlm({ text: "é".repeat(room / 2 + 1) })))
  })
})
