/** A third-party linter checks the OpenAPI document. It may find only what the paths of the existing product force on us. */
import { createConfig, lintFromString } from "@redocly/openapi-core"
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
  t.strictSame(
    redirects.map(({ at }) => at.split("/")[2]),
    ["~1api~1v1~1public~1download~1workflow~1{token}~1{artifact_type}"]
  )
  const rest = found.filter(
    (problem) =>
      !slashes.includes(problem) &&
      !redirects.includes(problem) &&
      !(problem.ruleId === "no-ambiguous-paths" && ambiguous.test(problem.message))
  )
  t.strictSame(rest, [])
})

t.test("given a document with a fault, when it is linted, then that is found", async (t) => {
  const { paths, ...document } = openApiOf(apiRoutes(builtIn), "1.0.0")
  const found = await problemsIn({ ...document, paths: { ...paths, "/x": { get: { operationId: "x", responses: {} } } } })
  t.ok(found.some(({ at }) => at.startsWith("#/paths/~1x")))
})
