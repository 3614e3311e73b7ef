/** Every route, asked in every wrong way we can think of: none may break, and every refusal has a `detail`. */
import t from "tap"
import Type, { type TObject, type TSchema } from "typebox"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import type { Route } from "#gateway/Route.ts"
import { openApi } from "./apiTest.ts"
import type { Answer, Sent } from "./gatewayTest.ts"

const api = await openApi(t)
/** An answer without an end, for which nobody can wait. */
const isEndless = ({ success }: Route<unknown>): boolean => success._tag === "Content" && success.mediaTypes.includes("text/event-stream")
const routes = apiRoutes([ari]).filter((route) => !isEndless(route))

const values: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  Number.MAX_SAFE_INTEGER,
  "",
  "0",
  "x",
  "é😀",
  "a\u0000b",
  "\ud800",
  "'; DROP TABLE runs; --",
  "x".repeat(20_000),
  [],
  [null],
  [[]],
  {},
  { a: null },
  { __proto__: 1 },
  { constructor: { prototype: 1 } },
  [{ id: 1 }, 5],
  { nodes: null },
  { nodes: [null], edges: [{}] },
  { nodes: [{ id: 1 }], edges: {} },
  { nodes: {}, edges: "x" }
]
const words = ["0", "-1", "1.5", "99999999999", "x", "%00", "%ff", "..%2f..%2fetc", "null", "1e3", "%20", "9".repeat(400)]

const filled = (path: string, word: string) => path.replaceAll(/:[a-z_]+/g, word)
const propertiesOf = (schema: TSchema): ReadonlyArray<string> => (Type.IsObject(schema) ? Object.keys(schema.properties) : [])

/** A value for each field that would do, to be spoiled one at a time. */
const plausible: Readonly<Record<string, unknown>> = {
  name: "a",
  workflow_id: 1,
  source_type: "csv",
  source_id: "campaigns/1/00000000-0000-4000-8000-000000000000_a.csv",
  file_name: "a.csv",
  file_size: 1,
  workflow_definition: {},
  status: "active",
  phone_number: "+15550100001",
  config: { provider: "ari", ari_endpoint: "http://127.0.0.1", app_name: "a", app_password: "b" }
}
const bodiesOf = (schema: TSchema): ReadonlyArray<unknown> => {
  const names = propertiesOf(schema)
  const whole = Object.fromEntries(names.flatMap((name) => (name in plausible ? [[name, plausible[name]]] : [])))
  return [whole, ...values, ...names.flatMap((name) => values.map((value) => ({ ...whole, [name]: value })))]
}
const queriesOf = (query: TObject): ReadonlyArray<string> => [
  "",
  "%",
  "&&==",
  "a[]=1",
  ...propertiesOf(query).flatMap((name) => words.map((word) => `${name}=${word}`)),
  ...[
    "[",
    "[]",
    "{}",
    "null",
    "[1]",
    '[{"attribute":"dateRange","type":"dateRange","value":{"from":"x"}}]',
    '[{"attribute":1}]',
    '[{"attribute":"duration","type":"numberRange","value":{"min":"x","max":{}}}]'
  ].map((filter) => `filters=${encodeURIComponent(filter)}`)
]

const isSound = (answer: Answer): boolean =>
  answer.status < 500 && (answer.status < 400 || (typeof answer.json === "object" && answer.json !== null && "detail" in answer.json))

t.test("given every route of the API", async (t) => {
  const hostile = async (route: Route<unknown>, path: string, json?: unknown, sent: Sent = {}) => {
    const answer = await api.ask(route.method.toUpperCase(), path, json, sent)
    if (!isSound(answer))
      t.fail(`${route.method} ${path.slice(0, 200)} ${JSON.stringify(json)?.slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }
  for (const route of routes) {
    t.test(`when ${route.method} ${route.path} is misused, then it refuses`, async (t) => {
      const json = route.body._tag === "Json" ? plausible : undefined
      if (route.path.includes(":")) for (const word of words) await hostile(route, filled(route.path, word), json)
      for (const query of queriesOf(route.query)) await hostile(route, `${filled(route.path, "1")}?${query}`, json)
      if (route.body._tag === "Json") for (const body of bodiesOf(route.body.schema)) await hostile(route, filled(route.path, "1"), body)
      if (route.access === "none") return t.pass("anybody may ask")
      const nobody = await api.ask(route.method.toUpperCase(), filled(route.path, "1"), json, { key: null })
      return t.equal(nobody.status, route.access === "api-key" ? 401 : 422, "without a key")
    })
  }
})
