/**
 * What a body of a few hundred kilobytes can do to one engine: each of these has kept its only thread busy for seconds, or forever, or got an
 * answer a hundred times as large. All requests have a valid key, because bodies of strangers are not read.
 */
import t, { type Test } from "tap"
import { ari, bodyOf, graph, openApi } from "#test/gateway/apiTest.ts"
import type { Answer } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t)
const longestAnswer = 100_000

const detailOf = (answer: Answer): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const detail: unknown = Object(answer.json).detail
  return Array.isArray(detail) ? detail : []
}

const times = <A>(length: number, item: A): ReadonlyArray<A> => Array.from({ length }, () => item)
/** Checks that it was refused for these reasons, if they are named, in a short answer. */
const isRefused = (t: Test, answer: Answer, longest = longestAnswer, ...types: ReadonlyArray<string>) => {
  t.equal(answer.status, 422)
  t.ok(answer.text.length < longest, `${answer.text.length} bytes`)
  const found = detailOf(answer).map(({ type }) => type)
  if (types.length > 0) t.strictSame(found, types)
}
const configs = "/organizations/telephony-configs"
const withAri = (more: object) => ({ name: "a", config: { ...ari, ...more } })
const withThreshold = (campaign: object, failure_threshold: string) => ({ ...campaign, circuit_breaker: { failure_threshold } })

t.test("given a graph", async (t) => {
  const create = (workflow_definition: object) => api.ask("POST", "/workflow/create/definition", { name: "a", workflow_definition })
  const { id } = await api.makeAgent()

  t.test("when it has 150,000 empty nodes, then it is refused before it is parsed", async (t) => {
    const answer = await create({ nodes: times(150_000, {}), edges: [] })
    isRefused(t, answer, 1000, "too_long")
    t.strictSame(detailOf(answer)[0]?.["loc"], ["body"])
  })

  t.test("when it has too many nodes or edges, then the refusal names the limit", async (t) => {
    const many = await create({ nodes: times(501, {}), edges: times(1001, {}) })
    const limits = ["at most 500 items after validation, not 501", "at most 1000 items after validation, not 1001"]
    t.strictSame(
      [many.status, detailOf(many).map(({ loc, msg }) => [Object(loc).at(-1), msg])],
      [422, ["nodes", "edges"].map((place, at) => [place, `List should have ${limits[at]}`])]
    )
  })

  t.test("when all of its parts are wrong, then a hundred problems are named", async (t) => {
    const answer = await create({ nodes: times(500, { id: "n".repeat(700), type: "x".repeat(200) }), edges: times(1000, {}) })
    isRefused(t, answer)
    t.ok(detailOf(answer).length > 10 && detailOf(answer).length <= 100, `${detailOf(answer).length} problems`)
  })

  t.test("when one node of it has a long list that is wrong, then publishing it names a hundred problems", async (t) => {
    const { id: draft } = bodyOf(await create(graph))
    const nodes = [...graph.nodes, { id: "2", type: "webhook", data: { custom_headers: times(7000, 1) } }]
    await api.ask("POST", `/workflow/${draft}/create-draft`)
    await api.ask("PUT", `/workflow/${draft}`, { workflow_definition: { ...graph, nodes } })
    isRefused(t, await api.ask("POST", `/workflow/${draft}/validate`))
  })

  t.test("when thousands of masks come back deep inside of a long name, then the refusal is short", async (t) => {
    const keys = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}_api_key`, "***"]))
    isRefused(t, await api.ask("PUT", `/workflow/${id}`, { workflow_configurations: { ["n".repeat(400_000)]: keys } }))
  })

  t.test("when thousands of secrets lie below a name as long as the body, then the name is stored once", async (t) => {
    const secrets = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}_secret`, "s"]))
    const template_context_variables = { ["n".repeat(200_000)]: secrets }
    const answer = await api.ask("PUT", `/workflow/${id}`, { template_context_variables })
    t.equal(answer.status, 200)
    const read = bodyOf(await api.ask("GET", `/workflow/fetch/${id}`))
    t.strictSame(read["template_context_variables"], template_context_variables)
    await api.ask("PUT", `/workflow/${id}`, { template_context_variables: {} })
  })

  t.test("when graph, settings and variables are each as large as a body may be, then they are refused together", async (t) => {
    const { id: large } = await api.makeAgent()
    const text = "p".repeat(400_000)
    const settings = await api.ask("PUT", `/workflow/${large}`, { workflow_configurations: { note: text } })
    const variables = await api.ask("PUT", `/workflow/${large}`, { template_context_variables: { note: text } })
    const many = times(7900, 1)
    const values = await api.ask("PUT", `/workflow/${large}`, { workflow_configurations: {}, template_context_variables: { many } })
    const more = await api.ask("PUT", `/workflow/${large}`, { workflow_definition: { ...graph, more: many } })
    t.strictSame([settings.status, variables.status, values.status, more.status], [200, 422, 200, 422])
  })

  t.test("when an edge's label is half a megabyte or missing, then it is checked like any other", async (t) => {
    const edge = { id: "e", source: "1", target: "1" }
    const long = await create({ ...graph, edges: [{ ...edge, data: { label: " ".repeat(500_000), condition: "x" } }] })
    t.equal(long.status, 200)
    const odd = await create({ ...graph, edges: [{ ...edge, data: { label: { toString: 1 } } }] })
    t.ok(odd.status < 500, `${odd.status}`)
  })
})

t.test("given texts on which a pattern could be tried at every place, and values that the answer repeats", async (t) => {
  const { id: workflow_id } = await api.makeAgent()
  const length = 200_000
  const campaign = { name: "a", workflow_id, source_type: "csv", source_id: "x" }
  const refused: ReadonlyArray<readonly [what: string, path: string, body: object, ...types: ReadonlyArray<string>]> = [
    ["a number of 200,000 digits and a letter", "/campaign/create", withThreshold(campaign, `${"1".repeat(length)}x`), "float_parsing"],
    [
      "a list's name of 200,000 letters",
      "/s3/presigned-upload-url",
      { file_name: "a".repeat(length), file_size: 1 },
      "string_pattern_mismatch"
    ],
    [
      "an Asterisk's address that is too long",
      configs,
      withAri({ ari_endpoint: `http://192.0.2.1/${"/".repeat(length)}x` }),
      "string_too_long"
    ],
    ["an object that claims to be text", configs, withAri({ provider: { toString: 1, valueOf: 1 } }), "union_tag_invalid"]
  ]
  for (const [what, path, body, ...types] of refused) {
    t.test(`when it is ${what}, then it is refused, and not repeated`, async (t) =>
      isRefused(t, await api.ask("POST", path, body), 10_000, ...types)
    )
  }

  t.test("when it is large, then the answer leaves it out", async (t) => {
    const answer = await api.ask("POST", "/tools/", { definition: { type: "http_api", config: { x: "y".repeat(length) } } })
    isRefused(t, answer, 10_000)
    t.ok(detailOf(answer).length >= 3)
  })

  t.test("when thousands of the items of a list are wrong, then the first hundred are named", async (t) => {
    const config = { method: "GET", url: "https://example.org", parameters: times(5000, 1) }
    const answer = await api.ask("POST", "/tools/", { name: "a", definition: { type: "http_api", config } })
    t.strictSame([answer.status, detailOf(answer).length], [422, 100])
  })

  t.test("when a list is one line without an end, then it is refused", async (t) => {
    const source_id = await api.upload("a".repeat(900_000))
    t.equal((await api.ask("POST", "/campaign/create", { ...campaign, source_id })).status, 400)
  })
})
