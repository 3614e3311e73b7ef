/** Ensures that the benchmark of hostile requests covers every route. */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"
import { bodiesOf, takesJson } from "./bombs.ts"
import { headsOf, takesText } from "./hostileHeads.ts"
import { takesBytes, uploadsOf } from "./hostileUploads.ts"

const routes = apiRoutes([ari])
const { paths } = openApiOf(routes, "1.0.0")
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const named = (wanted: (operation: (typeof operations)[number]) => boolean) =>
  operations
    .filter(wanted)
    .map(({ operationId }) => operationId)
    .toSorted()
const reached = (made: ReadonlyArray<() => { readonly route: { readonly name: string } }>) =>
  [...new Set(made.map((make) => make().route.name))].toSorted()
const mediaTypes = (operation: (typeof operations)[number]) => Object.keys(operation.requestBody?.content ?? {})
const isJson = (operation: (typeof operations)[number]) => mediaTypes(operation).includes("application/json")

t.test("given the document of the whole API", async (t) => {
  const of = (takes: (route: (typeof routes)[number]) => boolean) => routes.filter(takes).length

  t.test("when an operation takes JSON, then it is sent hostile bodies", async (t) => {
    t.strictSame(reached(bodiesOf(routes, of(takesJson), 1)), named(isJson))
  })

  t.test("when an operation takes anything else, then it is sent hostile files", async (t) => {
    t.strictSame(
      reached(uploadsOf(routes, of(takesBytes), 1)),
      named((operation) => operation.requestBody !== undefined && !isJson(operation))
    )
  })

  t.test("when an operation has parameters in its path or query, then it is sent hostile ones", async (t) => {
    t.strictSame(
      reached(headsOf(routes, of(takesText), 1)),
      named(({ parameters }) => parameters.some((one) => one["in"] === "path" || one["in"] === "query"))
    )
  })
})
