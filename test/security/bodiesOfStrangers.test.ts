/** No body of an unauthorized client is parsed: its errors are not reported, and a large one is not read. */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApi } from "#test/gateway/apiTest.ts"
import { raw } from "#test/gateway/gatewayTest.ts"
import { ownerKey } from "./operators.ts"

const api = await openApi(t)
const routes = apiRoutes([ari]).filter(({ body }) => body._tag === "Json")
const pathOf = (path: string) => path.replaceAll(/:[a-z_]+/g, "1")
const broken = '{"a": '
const isOfModels = (path: string) => path.includes("model-configurations") || path.endsWith("/user/configurations/user")
const operator = await ownerKey(api, api.organizationId, { isOperator: true })
const headers = { "content-type": "application/json" }

t.test("given every route with a JSON body that requires authorization", async (t) => {
  for (const route of routes.filter(({ access }) => access !== "none")) {
    const name = `${route.method} ${route.path}`
    const send = (key: string | null) => api.ask(route.method.toUpperCase(), pathOf(route.path), undefined, { body: broken, headers, key })
    const nobody = await send(null)
    t.equal(nobody.status, route.access === "api-key" ? 401 : 422, `${name} without a key`)
    t.notMatch(nobody.text, "json_invalid", name)
    t.equal((await send("tlk_nobody_has_this_key")).status, 401, `${name} with a bad key`)
  }
})

t.test("given every route with a JSON body", async (t) => {
  t.test("when the body is larger than the route needs, then 413 before it is read", async (t) => {
    for (const route of routes) {
      if (route.body._tag !== "Json") continue
      const name = `${route.method} ${route.path}`
      const isGraph =
        route.path.startsWith("/api/v1/workflow/") && (route.path.endsWith("definition") || route.path.endsWith(":workflow_id"))
      const known = isOfModels(route.path) ? 131_072 : isGraph ? 524_288 : 262_144
      t.equal(route.body.maxBytes, route.access === "none" ? 16_384 : known, name)
      const head = `${route.method.toUpperCase()} ${pathOf(route.path)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${route.body.maxBytes + 1}\r\n\r\n`
      t.match(await raw(api, head, 10), /^HTTP\/1.1 413 /, name)
    }
  })

  t.test("when the body has too many levels or values, then 422 before it is parsed", async (t) => {
    for (const route of routes) {
      if (route.body._tag !== "Json") continue
      const most = route.body.maxValues
      const types = async (body: string) => {
        const { json } = await api.ask(route.method.toUpperCase(), pathOf(route.path), undefined, { body, headers, key: operator })
        return Object(json).detail?.map?.(({ type }: { readonly type: string }) => type)
      }
      // Not JSON: a parser would report that.
      t.strictSame(await types("[".repeat(101)), ["recursion_loop"], `${route.method} ${route.path}`)
      t.strictSame(await types(",".repeat(most)), ["too_long"], `${route.method} ${route.path}`)
      t.strictSame(
        await types(`"${"[,{".repeat(most)}\\"${",".repeat(most)}`.slice(0, 16_000)),
        ["json_invalid"],
        "in a text they count nothing"
      )
    }
  })
})
