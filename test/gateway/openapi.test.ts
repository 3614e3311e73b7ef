import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"
import { documentRoutes } from "#gateway/routes/document.ts"
import { send, serving } from "./gatewayTest.ts"

const routes = apiRoutes([ari])
const document = openApiOf(routes, "1.0.0")
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
)

/** Every `$ref` in a value, however deep. */
const refsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => (name === "$ref" ? [String(part)] : refsIn(part)))
}

t.test("given the document of the whole API", async (t) => {
  t.test("when its operations are counted, then every route has one, with a unique name", async (t) => {
    t.equal(operations.length, routes.length)
    t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, routes.length)
    t.equal(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length)
    for (const { operation } of operations) t.ok(operation.tags.every((tag) => tag !== "") && operation.summary !== "")
  })

  t.test("when an operation is described, then it says more than its summary, and who may use it", async (t) => {
    const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "")
    for (const { description, name, summary } of routes) {
      t.ok(description.length >= 40, `${name} is described`)
      t.notOk(bare(description).startsWith(bare(summary)), `${name} does not repeat its summary`)
    }
    for (const { operation } of operations)
      t.match(
        operation.description,
        /\n\n(Needs no credential|For the operator's keys|For (every|the) role.*(scope `[^`]+`|not with an API key))\.$/
      )
  })

  t.test("when something is referred to, then it exists", async (t) => {
    const refs = new Set(refsIn(document))
    t.ok(refs.size > 20)
    for (const ref of refs) t.ok(document.components.schemas[ref.replace("#/components/schemas/", "")], ref)
  })

  t.test("when a path has parameters, then exactly these are declared as such", async (t) => {
    for (const { operation, path } of operations) {
      const inPath = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name)
      const declared = operation.parameters.filter((one) => one["in"] === "path").map((one) => one["name"])
      t.strictSame(declared, inPath, path)
      t.notMatch(path, /:/)
    }
  })

  t.test("when an operation can fail, then its statuses and the shape of its errors are there", async (t) => {
    const statuses = (name: string) =>
      Object.keys(operations.find(({ operation }) => operation.operationId === name)?.operation.responses ?? {})
    t.strictSame(statuses("startCampaign"), ["200", "400", "401", "403", "404", "409", "422", "429", "431", "500", "502", "503"])
    const ofBodies = ["200", "400", "401", "403", "404", "408", "409", "413", "422", "429", "431", "500", "502", "503"]
    for (const name of ["createCampaign", "startCall"]) t.strictSame(statuses(name), ofBodies)
    t.strictSame(statuses("getHealth"), ["200", "431", "500", "503"])
    for (const { operation } of operations) {
      for (const [status, answer] of Object.entries(operation.responses)) {
        const name = status === "422" ? "ValidationError" : status === "409" && operation.tags.includes("Text chats") ? "Conflict" : "Error"
        const isPlain = status === "409" && operation.operationId === "createTextChat"
        if (status >= "400" && status !== "431") t.strictSame(refsIn(answer), [`#/components/schemas/${isPlain ? "Error" : name}`])
      }
    }
  })

  t.test("when a shape has defaults, then a request may leave them out and an answer never does", async (t) => {
    const { RetryConfig, RetryConfigInput } = document.components.schemas
    t.match(RetryConfig, { required: ["enabled", "max_retries"] })
    t.equal(RetryConfigInput?.["required"], undefined)
    t.match(RetryConfigInput, { properties: { max_retries: { type: "integer", minimum: 0, maximum: 10, default: 2 } } })
    t.strictSame(document.components.schemas["CreateCampaign"]?.["required"], ["name", "workflow_id", "source_type", "source_id"])
  })

  t.test("when a union has a tag, then the tags lead to its variants", async (t) => {
    t.match(document.components.schemas["CreateTelephonyConfig"], {
      properties: { config: { discriminator: { propertyName: "provider", mapping: { ari: "#/components/schemas/TelephonyConfig_ari" } } } }
    })
  })

  t.test("when it has examples, then each matches its schema", async (t) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    formats.default(ajv)
    ajv.addSchema({ $id: "api", components: document.components })
    const fits = (what: string, media: { readonly schema: object; readonly example?: unknown } | undefined) => {
      if (media?.example === undefined) return
      const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/components', '"api#/components'))
      const validate = ajv.compile(schema)
      t.ok(validate(media.example), `${what}: ${JSON.stringify(validate.errors?.slice(0, 2))}`)
    }
    for (const { operation } of operations) {
      fits(`body of ${operation.operationId}`, operation.requestBody?.content["application/json"])
      fits(`answer of ${operation.operationId}`, operation.responses["200"]?.content?.["application/json"])
    }
  })

  t.test("when it is written as JSON, then it has no traces of its generation", async (t) => {
    t.notMatch(JSON.stringify(document), /"~|undefined|\bUnsafe\b/)
  })
})

t.test("given the routes that serve it", async (t) => {
  const gateway = await serving(t, documentRoutes(routes.filter(({ tag }) => tag.name !== "Documentation")))

  t.test("when its summary is fetched, then it has a line for each operation", async (t) => {
    const answer = await send(gateway, "GET", "/llms.txt", { key: null })
    t.equal(answer.headers["content-type"], "text/plain; charset=utf-8")
    for (const { method, path } of operations) t.ok(answer.text.includes(`\`${method.toUpperCase()} ${path}\``), path)
  })

  t.test("when the document is fetched, then it is that of the routes", async (t) => {
    const answer = await send(gateway, "GET", "/api/v1/openapi.json", { key: null })
    t.match(answer.json, { openapi: "3.1.0", info: { version: "9.9.9" }, paths: { "/docs": {}, "/api/v1/campaign/": {} } })
  })
})
