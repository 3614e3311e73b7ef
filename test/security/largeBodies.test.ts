/**
 * What a body of a few hundred kilobytes can do to one engine: each of these has kept its only thread busy for seconds, or forever, or got an
 * answer a hundred times as large. All requests have a valid key, because bodies of strangers are not read.
 */
import t from "tap"
import { bodyOf, graph, openApi } from "#test/gateway/apiTest.ts"
import type { Answer } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t)
const longestAnswer = 100_000

const detailOf = (answer: Answer): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const detail: unknown = Object(answer.json).detail
  return Array.isArray(detail) ? detail : []
}

t.test("given a graph", async (t) => {
  const create = (workflow_definition: object) => api.ask("POST", "/workflow/create/definition", { name: "a", workflow_definition })
  const { id } = await api.makeAgent()

  t.test("when it has 150,000 empty nodes, then it is refused before it is parsed", async (t) => {
    const answer = await create({ nodes: Array.from({ length: 150_000 }, () => ({})), edges: [] })
    t.equal(answer.status, 422)
    t.strictSame(
      detailOf(answer).map(({ loc, type }) => ({ loc, type })),
      [{ loc: ["body"], type: "too_long" }]
    )
    t.ok(answer.text.length < 1000, `${answer.text.length} bytes`)
  })

  t.test("when it has too many nodes or edges, then the refusal names the limit", async (t) => {
    const many = await create({ nodes: Array.from({ length: 501 }, () => ({})), edges: Array.from({ length: 1001 }, () => ({})) })
    t.strictSame(
      [many.status, detailOf(many).map(({ loc, msg }) => [loc, msg])],
      [
        422,
        [
          [["body", "workflow_definition", "nodes"], "List should have at most 500 items after validation, not 501"],
          [["body", "workflow_definition", "edges"], "List should have at most 1000 items after validation, not 1001"]
        ]
      ]
    )
  })

  t.test("when all of its parts are wrong, then a hundred problems are named", async (t) => {
    const node = { id: "n".repeat(700), type: "x".repeat(200) }
    const answer = await create({ nodes: Array.from({ length: 500 }, () => node), edges: Array.from({ length: 1000 }, () => ({})) })
    t.equal(answer.status, 422)
    t.ok(detailOf(answer).length > 10 && detailOf(answer).length <= 100, `${detailOf(answer).length} problems`)
    t.ok(answer.text.length < longestAnswer, `${answer.text.length} bytes`)
  })

  t.test("when one node of it has a long list that is wrong, then publishing it names a hundred problems", async (t) => {
    const { id: draft } = bodyOf(await create(graph))
    const nodes = [...graph.nodes, { id: "2", type: "webhook", data: { custom_headers: Array.from({ length: 7000 }, () => 1) } }]
    await api.ask("POST", `/workflow/${draft}/create-draft`)
    await api.ask("PUT", `/workflow/${draft}`, { workflow_definition: { ...graph, nodes } })
    const answer = await api.ask("POST", `/workflow/${draft}/validate`)
    t.equal(answer.status, 422)
    t.ok(answer.text.length < longestAnswer, `${answer.text.length} bytes`)
  })

  t.test("when thousands of masks come back deep inside of a long name, then the refusal is short", async (t) => {
    const keys = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}_api_key`, "***"]))
    const answer = await api.ask("PUT", `/workflow/${id}`, { workflow_configurations: { ["n".repeat(400_000)]: keys } })
    t.equal(answer.status, 422)
    t.ok(answer.text.length < longestAnswer, `${answer.text.length} bytes`)
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
    const many = Array.from({ length: 7900 }, () => 1)
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

t.test("given texts on which a pattern could be tried at every place", async (t) => {
  const { id: agent } = await api.makeAgent()
  const length = 200_000

  t.test("when a number is two hundred thousand digits and a letter, then it is refused", async (t) => {
    const answer = await api.ask("POST", "/campaign/create", {
      name: "a",
      workflow_id: agent,
      source_type: "csv",
      source_id: "x",
      circuit_breaker: { failure_threshold: `${"1".repeat(length)}x` }
    })
    t.strictSame([answer.status, detailOf(answer).map(({ type }) => type)], [422, ["float_parsing"]])
    t.ok(answer.text.length < 10_000, "and is not repeated")
  })

  t.test("when the name of a list is two hundred thousand letters, then it is not taken for CSV", async (t) => {
    const answer = await api.ask("POST", "/s3/presigned-upload-url", { file_name: "a".repeat(length), file_size: 1 })
    t.strictSame([answer.status, detailOf(answer).map(({ type }) => type)], [422, ["string_pattern_mismatch"]])
  })

  t.test("when a list is one line without an end, then it is refused", async (t) => {
    const source_id = await api.upload("a".repeat(900_000))
    const answer = await api.ask("POST", "/campaign/create", { name: "a", workflow_id: agent, source_type: "csv", source_id })
    t.equal(answer.status, 400)
  })

  t.test("when the address of an Asterisk is too long, then it is refused", async (t) => {
    const config = { provider: "ari", ari_endpoint: `http://192.0.2.1/${"/".repeat(length)}x`, app_name: "a", app_password: "password1" }
    const answer = await api.ask("POST", "/organizations/telephony-configs", { name: "long", config })
    t.strictSame([answer.status, detailOf(answer).map(({ type }) => type)], [422, ["string_too_long"]])
  })
})

t.test("given a value that the answer repeats", async (t) => {
  t.test("when it is large, then the answer leaves it out", async (t) => {
    const answer = await api.ask("POST", "/tools/", { definition: { type: "http_api", config: { x: "y".repeat(200_000) } } })
    t.equal(answer.status, 422)
    t.ok(detailOf(answer).length >= 3)
    t.ok(answer.text.length < 10_000, `${answer.text.length} bytes`)
  })

  t.test("when thousands of the items of a list are wrong, then the first hundred are named", async (t) => {
    const parameters = Array.from({ length: 5000 }, () => 1)
    const definition = { type: "http_api", config: { method: "GET", url: "https://example.org", parameters } }
    const answer = await api.ask("POST", "/tools/", { name: "a", definition })
    t.strictSame([answer.status, detailOf(answer).length], [422, 100])
  })

  t.test("when it is an object that claims to be text, then it is treated like any other value", async (t) => {
    const config = { provider: { toString: 1, valueOf: 1 } }
    const answer = await api.ask("POST", "/organizations/telephony-configs", { name: "a", config })
    t.strictSame([answer.status, detailOf(answer).map(({ type }) => type)], [422, ["union_tag_invalid"]])
  })
})
