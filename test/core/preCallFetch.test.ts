/** Which calls fetch, what they send, and what is taken from an answer, whoever wrote it. */
import fc from "fast-check"
import t from "tap"
import { isObject } from "#core/Json.ts"
import { preCallFetchOf } from "#core/agent/PreCallFetch.ts"
import { fetchedContextOf, questionOf } from "#core/call/PreCallFetch.ts"
import { reservedNames } from "#core/run/RunRecord.ts"
import { forAllOf } from "#test/support/forAll.ts"

const url = "https://crm.example/contacts"
const definition = (data: object) => ({ nodes: [{ id: "s", type: "startCall", data }], edges: [] })
const wants = (data: object) => preCallFetchOf(definition({ pre_call_fetch_url: url, ...data })) !== undefined

t.test("given the start node of an agent, when a call is made, then it fetches if that is enabled and has an address", async (t) => {
  for (const mode of ["always", "outbound"]) t.ok(wants({ pre_call_fetch_mode: mode }), mode)
  for (const mode of ["disabled", "inbound", "sometimes", 5, null, undefined, ""]) t.notOk(wants({ pre_call_fetch_mode: mode }), `${mode}`)
  t.ok(wants({ pre_call_fetch_enabled: true }), "the older switch")
  t.ok(wants({ pre_call_fetch_enabled: true, pre_call_fetch_mode: null }), "the older switch beside no mode")
  t.notOk(wants({ pre_call_fetch_enabled: true, pre_call_fetch_mode: "disabled" }), "a mode beside the older switch")
  for (const is of [false, "true", 1]) t.notOk(wants({ pre_call_fetch_enabled: is }), `older: ${is}`)
  for (const bad of ["", "  ", null, 5, undefined]) t.notOk(wants({ pre_call_fetch_mode: "always", pre_call_fetch_url: bad }), `to ${bad}`)
  for (const none of [{}, { nodes: [] }, { nodes: [{ type: "startCall" }] }]) t.equal(preCallFetchOf(none), undefined)
})

t.test("given a credential, when it is named, then it is asked for", async (t) => {
  const of = (data: object) => preCallFetchOf(definition({ pre_call_fetch_mode: "always", pre_call_fetch_url: ` ${url} `, ...data }))
  t.strictSame(of({ pre_call_fetch_credential_uuid: " c-1 " }), { url, credentialUuid: "c-1" })
  for (const none of ["", " ", null, 5, undefined]) {
    t.strictSame(of({ pre_call_fetch_credential_uuid: none }), { url, credentialUuid: undefined })
  }
})

t.test("given a call, when it fetches, then it says who calls whom", async (t) => {
  t.strictSame(JSON.parse(questionOf({ agentId: 7, from: "+15550100999", to: "+15550000001" })), {
    event: "call_inbound",
    call_inbound: { agent_id: 7, from_number: "+15550100999", to_number: "+15550000001" }
  })
  t.equal(JSON.parse(questionOf({ agentId: 7, from: undefined, to: "+1" })).call_inbound.from_number, "", "no number is shown")
})

t.test("given an answer, when it is read", async (t) => {
  const reads = (answer: unknown, expected: unknown, name: string) =>
    t.strictSame(fetchedContextOf(typeof answer === "string" ? answer : JSON.stringify(answer)), expected, name)
  const ada = { first_name: "Ada", cart: { items: [1, "a", null, true] } }
  reads({ initial_context: ada }, ada, "at the top")
  reads({ call_inbound: { initial_context: ada } }, ada, "in the wrapper")
  reads({ dynamic_variables: ada }, ada, "by the older name")
  reads({ call_inbound: { dynamic_variables: ada } }, ada, "by the older name in the wrapper")
  reads({ initial_context: ada, dynamic_variables: { first_name: "Bob" } }, ada, "the newer name first")
  reads({ initial_context: null, dynamic_variables: ada }, ada, "null is the same as nothing")
  reads({ call_inbound: { agent_id: 7 }, initial_context: ada }, ada, "a wrapper without any")
  reads({ call_inbound: { dynamic_variables: ada }, initial_context: { first_name: "Bob" } }, ada, "the wrapper first")
  reads({ call_inbound: "x", initial_context: ada }, ada, "a wrapper that is none")
  for (const empty of [{}, { call_inbound: {} }, { other: 1 }]) reads(empty, {}, `nothing: ${JSON.stringify(empty)}`)
  for (const bad of ["", "{", "null", "[]", '"x"', "5", "[".repeat(200_000), '{"a":'.repeat(40_000)]) {
    reads(bad, undefined, `no object: ${bad.slice(0, 10)}`)
  }
  for (const bad of [5, "x", [], true]) reads({ initial_context: bad }, undefined, `no context: ${JSON.stringify(bad)}`)

  const reserved = { provider: "x", runtime_configuration: {}, mps_correlation_id: 1, called_number: "+1" }
  reads(
    { initial_context: { ...reserved, ...ada, inner: { provider: "kept" } } },
    { ...ada, inner: { provider: "kept" } },
    "reserved names"
  )
  reads(
    String.raw`{"initial_context":{"a":"x\u0000","b\u0000":1,"c":"\ud800","\udc00d":1,"e":["\u0000",2,{"f":"\u0000"}],"g":1e999,"h":"ok"}}`,
    { e: [2, {}], h: "ok" },
    "what cannot be stored"
  )
  const deep = (levels: number) => `{"initial_context":{"deep":${"[".repeat(levels)}${"]".repeat(levels)},"near":[[1]]}}`
  t.strictSame(fetchedContextOf(deep(900))?.["near"], [[1]], "what is near is kept")
  t.equal(fetchedContextOf(deep(50_000)), undefined, "what would take long to parse")
  t.equal(fetchedContextOf(`{"initial_context":{"list":[${"1,".repeat(60_000)}1]}}`), undefined, "however flat")
})

/** How many levels a value has; iterative, because a value may be nested more deeply than the stack allows. */
const depthOf = (root: unknown): number => {
  let deepest = 0
  const left: Array<readonly [value: unknown, depth: number]> = [[root, 0]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, depth] = next
    deepest = Math.max(deepest, depth)
    if (typeof value === "object" && value !== null) for (const part of Object.values(value)) left.push([part, depth + 1])
  }
  return deepest
}

t.test("given whatever a stranger answers, when it is read, then it is nothing, or storable JSON without our variables", async (t) => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "\udfffx", "__proto__", ...reservedNames))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      fc.double(),
      fc.constantFrom(null, true, false),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4 })
    )
  }))
  const context = fc.oneof({ weight: 4, arbitrary: fc.dictionary(text, value) }, { weight: 1, arbitrary: value })
  const names = fc.constantFrom("initial_context", "dynamic_variables", "call_inbound", "other")
  const answer = fc.oneof(
    fc.dictionary(names, context),
    fc.record({ call_inbound: fc.dictionary(names, context) }),
    fc.tuple(fc.nat(400), fc.constantFrom("[", '{"a":')).map(([levels, open]) => ({
      initial_context: { levels: JSON.parse(`${open.repeat(levels)}1${(open === "[" ? "]" : "}").repeat(levels)}`) }
    }))
  )
  const body = fc.oneof(
    answer.map((one) => JSON.stringify(one)),
    fc.tuple(answer, fc.nat()).map(([one, at]) => JSON.stringify(one).slice(0, at % JSON.stringify(one).length)),
    fc.string({ unit: "binary" })
  )
  let read = 0
  forAllOf({ numRuns: 500 }, body, (given) => {
    const context = fetchedContextOf(given)
    if (context === undefined) return
    if (Object.keys(context).length > 0) read++
    const written = JSON.stringify(context)
    t.ok(isObject(context) && depthOf(context) <= 101, "an object of some levels")
    t.notOk(/\\u0000|\\ud[89a-f]/.test(written.replaceAll(/\\\\/g, "")), "that Postgres takes")
    const isReserved = Object.keys(context).some((name) => reservedNames.includes(name))
    t.notOk(isReserved, "of no reserved name")
    t.strictSame(fetchedContextOf(JSON.stringify({ initial_context: context })), context, "and nothing more is taken from it")
  })
  t.ok(read > 50, `${read} had something in them`)
})
