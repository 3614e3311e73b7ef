/** Third-party linters check the OpenAPI document. They may find only what the paths of the existing product force on us. */
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core"
import { oas } from "@stoplight/spectral-rulesets"
import t from "tap"
import { builtIn } from "#adapters/builtIn.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"

const lists = ["campaign", "credentials", "folder", "tools", "workflow-recordings"]
const ambiguous = /`\/api\/v1\/workflow\/fetch\/\{workflow_id\}` and `\/api\/v1\/workflow\/\{workflow_id\}\/[a-z-]+`/

const problemsIn = async (document: object) => {
  const source = JSON.stringify(document)
  const found = await lintFromString({ source, absoluteRef: "openapi.json", config: await createConfig({ extends: ["recommended"] }) })
  return found.map(({ location, message, ruleId }) => ({ ruleId, at: location[0]?.pointer ?? "", message }))
}

t.test("given the document of the whole API, when it is linted, then nothing is found except what clients require", async (t) => {
  const document = openApiOf(apiRoutes(builtIn), "1.0.0")
  const found = await problemsIn(document)
  const slashes = found.filter(({ ruleId }) => ruleId === "no-path-trailing-slash")
  t.strictSame(
    slashes.map(({ at }) => at).sort(),
    lists.map((list) => `#/paths/~1api~1v1~1${list}~1`)
  )
  const redirects = found.filter(({ ruleId }) => ruleId === "operation-2xx-response")
  const redirected = redirects.map(({ at }) => at.split("/")[2])
  t.strictSame(redirected, ["~1api~1v1~1public~1download~1workflow~1{token}~1{artifact_type}"])
  const rest = found.filter(
    (problem) =>
      !slashes.includes(problem) &&
      !redirects.includes(problem) &&
      !(problem.ruleId === "no-ambiguous-paths" && ambiguous.test(problem.message))
  )
  t.strictSame(rest, [])
})

const spectral = new Spectral()
// Cast: the declaration of these rules lacks a member of the type that they are meant for.
spectral.setRuleset({ extends: [[oas as RulesetDefinition, "recommended"]] })
const foundIn = async (document: object) =>
  (await spectral.run({ ...document })).map(({ code, path }) => `${code} ${path.slice(0, 3).join(" ")}`)

t.test("given the document of the whole API, when Spectral lints it, then it finds the same trailing slashes alone", async (t) => {
  const found = await foundIn(openApiOf(apiRoutes(builtIn), "1.0.0"))
  t.strictSame(
    found.sort(),
    lists.map((list) => `path-keys-no-trailing-slash paths /api/v1/${list}/`)
  )
})

t.test("given an operation without a description or with a wrong example, when Spectral lints it, then it is found", async (t) => {
  const content = { "application/json": { schema: { type: "object" }, example: null } }
  const get = { operationId: "x", summary: "x", tags: ["Health"], responses: { 200: { description: "x", content } } }
  const { paths: _, ...document } = openApiOf(apiRoutes(builtIn), "1.0.0")
  const found = await foundIn({ ...document, components: {}, paths: { "/x": { get } } })
  t.ok(found.includes("operation-description paths /x get"))
  t.ok(found.includes("oas3-valid-media-example paths /x get"))
})

t.test("given a document with a fault, when it is linted, then that is found", async (t) => {
  const { paths, ...document } = openApiOf(apiRoutes(builtIn), "1.0.0")
  const found = await problemsIn({ ...document, paths: { ...paths, "/x": { get: { operationId: "x", responses: {} } } } })
  t.ok(found.some(({ at }) => at.startsWith("#/paths/~1x")))
})
