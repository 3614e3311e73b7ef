/** Ten thousand requests generated from the declarations of the routes: none may break anything, and every answer is as documented. */
import { setTimeout as sleep } from "node:timers/promises"
import fc from "fast-check"
import t from "tap"
import Type, { type TObject } from "typebox"
import type { Route } from "#gateway/request/Route.ts"
import { openApi } from "./apiTest.ts"
import type { Answer } from "./gatewayTest.ts"
import { arbitraryOf, endingRoutes, hostileWords, isSound, sampleOf } from "./samples.ts"

const requests = 10_000
const seed = 20_260_601
/** How many are sent at the same time. */
const width = 50
/** How often a request is repeated if the engine says that it is too busy. */
const mostTries = 100

const api = await openApi(t)
for (let made = 0; made < 3; made++) await api.makeCampaign()

interface Request {
  readonly method: string
  readonly path: string
  readonly json: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly isOurs: boolean
}

const segment = (schema: unknown): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: Type.IsInteger(schema) ? fc.integer({ min: 1, max: 6 }).map(String) : fc.uuid() },
    { weight: 1, arbitrary: fc.constantFrom(...hostileWords) }
  )

/** The server accepts only a few thousand bytes before the body. */
const longestText = 500
const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, longestText)
/** Each property as text, or absent. */
const textsOf = (schema: TObject): fc.Arbitrary<Readonly<Record<string, string | undefined>>> => {
  const model: Record<string, fc.Arbitrary<string>> = Object.fromEntries(
    Object.entries(schema.properties).map(([name, one]) => [name, arbitraryOf(one).map(textOf)])
  )
  return fc.record(model, { requiredKeys: [] })
}
const isHeader = (name: string, value: string) => name.toLowerCase() !== "x-api-key" && /^[\x21-\x7e]{1,200}$/.test(value)
const given = (texts: Readonly<Record<string, string | undefined>>): ReadonlyArray<[string, string]> =>
  Object.entries(texts).flatMap(([name, text]): ReadonlyArray<[string, string]> => (text === undefined ? [] : [[name, text]]))

const requestOf = (route: Route<unknown>): fc.Arbitrary<Request> => {
  const names = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => name)
  return fc
    .record({
      words: fc.tuple(...names.map((name) => segment(route.params.properties[name]))),
      query: textsOf(route.query),
      headers: textsOf(route.headers),
      json: route.body._tag === "Json" ? arbitraryOf(route.body.schema) : fc.constant(undefined),
      isOurs: fc.boolean()
    })
    .map(({ headers, isOurs, json, query, words }) => {
      const path = names.reduce((filled, name, at) => filled.replace(`:${name}`, words[at] ?? "x"), route.path)
      const search = new URLSearchParams({ ...Object(sampleOf(route.query)), ...Object.fromEntries(given(query)) }).toString()
      return {
        method: route.method.toUpperCase(),
        path: search === "" ? path : `${path}?${search}`,
        json,
        headers: Object.fromEntries(given(headers).filter(([name, value]) => isHeader(name, value))),
        isOurs
      }
    })
}

const send = ({ headers, isOurs, json, method, path }: Request): Promise<Answer> =>
  isOurs ? api.ask(method, path, json, { headers }) : api.askAsOther(method, path, json)

/** On a busy machine, 503 is a valid answer, if it says when to retry and if a retry gets another one. */
const answerTo = async (request: Request): Promise<Answer> => {
  for (let tries = 1; ; tries++) {
    const answer = await send(request)
    const later = Number(answer.headers["retry-after"])
    if (answer.status !== 503 || !(later > 0) || tries === mostTries) return answer
    await sleep(later * 1000)
  }
}

t.test("given every route, when it gets anything that its schemas allow or nearly allow, then its answer is valid", async (t) => {
  const each = Math.ceil(requests / endingRoutes.length)
  const statuses = new Map<number, number>()
  for (const route of endingRoutes) {
    const sample = fc.sample(requestOf(route), { numRuns: each, seed })
    for (let from = 0; from < sample.length; from += width) {
      const some = sample.slice(from, from + width)
      const answers = await Promise.all(some.map(answerTo))
      answers.forEach((answer, at) => {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (!isSound(answer)) t.fail(`${answer.status} ${answer.text.slice(0, 200)} to ${JSON.stringify(some[at])?.slice(0, 1000)}`)
      })
    }
  }
  t.ok((statuses.get(200) ?? 0) > requests / 20, "many requests are good ones")
  t.ok((statuses.get(422) ?? 0) > requests / 20, "many are not")
})
