/** Every route, misused in every way that we can think of: none may break, and every refusal has a `detail`. */
import t from "tap"
import Type, { type TObject, type TSchema } from "typebox"
import type { Route } from "#gateway/request/Route.ts"
import { openApi } from "./apiTest.ts"
import { endingRoutes, hostileValues as values, hostileWords as words, isSound } from "./samples.ts"

const api = await openApi(t)

const filled = (path: string, word: string) => path.replaceAll(/:[a-z_]+/g, word)
const propertiesOf = (schema: TSchema): ReadonlyArray<string> => (Type.IsObject(schema) ? Object.keys(schema.properties) : [])

/** An acceptable value for each field, to be made invalid one at a time. */
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

t.test("given every route of the API", async (t) => {
  const hostile = async (route: Route<unknown>, path: string, json?: unknown) => {
    const answer = await api.ask(route.method.toUpperCase(), path, json)
    if (!isSound(answer))
      t.fail(`${route.method} ${path.slice(0, 200)} ${JSON.stringify(json)?.slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }
  for (const route of endingRoutes) {
    t.test(`when ${route.method} ${route.path} is misused, then it refuses`, async (t) => {
      const json = route.body._tag === "Json" ? plausible : undefined
      if (route.path.includes(":")) for (const word of words) await hostile(route, filled(route.path, word), json)
      for (const query of queriesOf(route.query)) await hostile(route, `${filled(route.path, "1")}?${query}`, json)
      if (route.body._tag === "Json") for (const body of bodiesOf(route.body.schema)) await hostile(route, filled(route.path, "1"), body)
      t.pass()
    })
  }
})
