import { Effect } from "effect"
import t, { type Test } from "tap"
import Type from "typebox"
import { route } from "#gateway/request/Route.ts"
import { ScheduleConfigWire } from "#gateway/wire/CampaignSettings.ts"
import { optional } from "#gateway/request/Field.ts"
import { type Answer, send, serving } from "./gatewayTest.ts"

const common = { name: "x", summary: "", description: "", success: Type.Unknown() } as const

const Everything = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5 }),
  kind: optional(Type.String({ pattern: "^csv$" })),
  count: Type.Integer({ minimum: 1, maximum: 10, default: 3 }),
  share: Type.Number({ exclusiveMinimum: 0, default: 0.5 }),
  isOn: Type.Boolean({ default: false }),
  list: Type.Array(Type.Object({ a: Type.Integer() }), { minItems: 1, maxItems: 2, default: [{ a: 1 }] }),
  any: optional(Type.Record(Type.String(), Type.Unknown())),
  word: Type.Enum(["one", "two"], { default: "one" }),
  schedule: optional(ScheduleConfigWire),
  config: Type.Union(
    [
      Type.Object({ provider: Type.Literal("ari"), url: Type.String() }),
      Type.Object({ provider: Type.Literal("twilio"), sid: Type.String() })
    ],
    { discriminator: { propertyName: "provider" }, default: { provider: "ari", url: "" } }
  )
})

const body = route({ ...common, method: "post", path: "/body", body: Everything, handle: ({ body }) => Effect.succeed(body) })
const parts = route({
  ...common,
  method: "post",
  path: "/parts/:id",
  params: Type.Object({ id: Type.Integer() }),
  query: Type.Object({ page: Type.Integer({ minimum: 1, default: 1 }), status: Type.String() }),
  headers: Type.Object({ "Idempotency-Key": Type.String({ minLength: 3 }) }),
  body: Type.Object({ phone: Type.String() }),
  handle: ({ body, headers, params, query }) => Effect.succeed({ body, headers, params, query })
})
const keyed = route({
  ...common,
  method: "post",
  path: "/keyed",
  access: "api-key-header",
  headers: Type.Object({ "X-API-Key": Type.String() }),
  body: Type.Object({ phone: Type.String() }),
  errors: ["NotAuthenticated"],
  handle: ({ caller }) => Effect.succeed(caller)
})

t.test("given a route with a body of all kinds", async (t) => {
  const gateway = await serving(t, [body])
  const post = (json: unknown) => send(gateway, "POST", "/body", { json })
  const read = async (json: object) => (await post({ name: "a", ...json })).json
  const refused = async (t: Test, json: object, violation: object, input: unknown = Object.values(json)[0]) => {
    const answer = await post({ name: "a", ...json })
    t.strictSame([answer.status, answer.json], [422, { detail: [{ ...violation, input }] }], JSON.stringify(json))
  }
  const at = (...loc: ReadonlyArray<string | number>) => ["body", ...loc]

  t.test("when all optional values are omitted, then the defaults are there and unknown keys are not", async (t) => {
    t.strictSame(await read({ unknown: 1, __proto__: { a: 1 } }), {
      name: "a",
      kind: null,
      count: 3,
      share: 0.5,
      isOn: false,
      list: [{ a: 1 }],
      any: null,
      word: "one",
      schedule: null,
      config: { provider: "ari", url: "" }
    })
  })

  t.test("when a value is written in another way, then it is still understood", async (t) => {
    for (const count of ["7", " 7 ", "7.0", 7, 7.0]) t.match(await read({ count }), { count: 7 })
    for (const isOn of [true, 1, "1", "true", "YES", "on", "t", "y"]) t.match(await read({ isOn }), { isOn: true })
    for (const isOn of [false, 0, "0", "False", "no", "off", "f", "n"]) t.match(await read({ isOn }), { isOn: false })
    t.match(await read({ share: "1e-1" }), { share: 0.1 })
    t.match(await read({ any: { __proto__x: 1, deep: [{ a: null }] } }), { any: { __proto__x: 1, deep: [{ a: null }] } })
  })

  t.test("when a value is invalid, then the entry says why", async (t) => {
    const integer = "Input should be a valid integer"
    const unicode = "Input should be a valid string, unable to parse raw data as a unicode string"
    const list = (most: string, length: number) => `List should have ${most} after validation, not ${length}`
    const lengths = (limit: object, actual_length: number) => ({ field_type: "List", ...limit, actual_length })
    const rows: ReadonlyArray<readonly [json: object, type: string, msg: string, ctx?: object]> = [
      [{ name: null }, "string_type", "Input should be a valid string"],
      [{ name: 5 }, "string_type", "Input should be a valid string"],
      [{ name: "" }, "string_too_short", "String should have at least 1 character", { min_length: 1 }],
      [{ name: "abcdef" }, "string_too_long", "String should have at most 5 characters", { max_length: 5 }],
      [{ kind: "xls" }, "string_pattern_mismatch", "String should match pattern '^csv$'", { pattern: "^csv$" }],
      ...["x", "", "1.5", "0x10"].map((count) => [{ count }, "int_parsing", `${integer}, unable to parse string as an integer`] as const),
      [{ count: 1.5 }, "int_from_float", `${integer}, got a number with a fractional part`],
      ...[null, [], {}].map((count) => [{ count }, "int_type", integer] as const),
      [{ count: 0 }, "greater_than_equal", "Input should be greater than or equal to 1", { ge: 1 }],
      [{ count: 11 }, "less_than_equal", "Input should be less than or equal to 10", { le: 10 }],
      [{ share: 0 }, "greater_than", "Input should be greater than 0", { gt: 0 }],
      [{ share: "x" }, "float_parsing", "Input should be a valid number, unable to parse string as a number"],
      ...["maybe", 2].map((isOn) => [{ isOn }, "bool_parsing", "Input should be a valid boolean, unable to interpret input"] as const),
      [{ isOn: null }, "bool_type", "Input should be a valid boolean"],
      [{ word: "three" }, "literal_error", "Input should be 'one' or 'two'", { expected: "'one' or 'two'" }],
      [{ any: [] }, "dict_type", "Input should be a valid dictionary"],
      [{ list: {} }, "list_type", "Input should be a valid list"],
      [{ list: [] }, "too_short", list("at least 1 item", 0), lengths({ min_length: 1 }, 0)],
      [{ list: [1, 2, 3] }, "too_long", list("at most 2 items", 3), lengths({ max_length: 2 }, 3)]
    ]
    for (const [json, type, msg, ctx] of rows) {
      await refused(t, json, { type, loc: at(...Object.keys(json)), msg, ...(ctx && { ctx }) })
    }
    await refused(t, { name: "a\0" }, { type: "string_unicode", loc: at("name"), msg: unicode }, "")
    await refused(t, { any: { a: ["\ud800"] } }, { type: "string_unicode", loc: at("any", "a", 0), msg: unicode }, "")
    await refused(t, { list: [{ a: 1 }, {}] }, { type: "missing", loc: at("list", 1, "a"), msg: "Field required" }, {})
    t.match(await read({ name: "😀😀😀😀😀" }), { name: "😀😀😀😀😀" })
  })

  t.test("when a custom rule is violated, then the entry is a value_error at its place", async (t) => {
    const slot = { day_of_week: 0, start_time: "17:00", end_time: "09:00" }
    const violated = (rule: string, ...loc: ReadonlyArray<string | number>) => {
      return { type: "value_error", loc: at("schedule", ...loc), msg: `Value error, ${rule}`, ctx: { error: {} } }
    }
    await refused(t, { schedule: { slots: [slot] } }, violated("start_time must be before end_time", "slots", 0), slot)
    const good = { ...slot, end_time: "24:00" }
    const zone = violated("Invalid timezone: Mars/Base", "timezone")
    await refused(t, { schedule: { slots: [good], timezone: "Mars/Base" } }, zone, "Mars/Base")
    t.match(await read({ schedule: { slots: [good] } }), { schedule: { enabled: true, timezone: "UTC", slots: [good] } })
    const impossible = await post({ name: "a", schedule: { slots: [{ ...slot, end_time: "99:99" }] } })
    t.equal(impossible.status, 422)
  })

  t.test("when the variant of a union is not clear, then the entry names the tags", async (t) => {
    const discriminator = "'provider'"
    const tagMissing = "Unable to extract tag using discriminator 'provider'"
    await refused(t, { config: {} }, { type: "union_tag_not_found", loc: at("config"), msg: tagMissing, ctx: { discriminator } })
    await refused(
      t,
      { config: { provider: "zzz" } },
      {
        type: "union_tag_invalid",
        loc: at("config"),
        msg: "Input tag 'zzz' found using 'provider' does not match any of the expected tags: 'ari', 'twilio'",
        ctx: { discriminator, tag: "zzz", expected_tags: "'ari', 'twilio'" }
      }
    )
    const config = { provider: "twilio" }
    await refused(t, { config }, { type: "missing", loc: at("config", "twilio", "sid"), msg: "Field required" }, config)
  })

  t.test("when more than one thing is wrong, then all of it is listed, in the order of the fields", async (t) => {
    const answer = await post({ count: 0, isOn: "x", list: [{}, { a: "b" }] })
    t.strictSame(typesOf(answer), ["missing", "greater_than_equal", "bool_parsing", "missing", "int_parsing"])
  })

  t.test("when there is no body, or one that is not JSON, then the entry says so", async (t) => {
    const missing = { detail: [{ type: "missing", loc: ["body"], msg: "Field required", input: null }] }
    t.strictSame((await send(gateway, "POST", "/body")).json, missing)
    t.strictSame((await post(null)).json, missing)
    const msg = "Input should be a valid dictionary or object to extract fields from"
    const object = (input: unknown) => ({ detail: [{ type: "model_attributes_type", loc: ["body"], msg, input }] })
    t.strictSame((await post([1])).json, object([1]))
    t.strictSame((await post("text")).json, object("text"))
    const headers = { "content-type": "text/plain" }
    t.strictSame((await send(gateway, "POST", "/body", { headers, body: '{"name":"a"}' })).json, object('{"name":"a"}'))
    for (const type of [{ "content-type": "application/problem+json" }, {}] as const)
      t.equal((await send(gateway, "POST", "/body", { headers: { ...type }, body: '{"name":"a"}' })).status, 200)
  })

  t.test("when the body is malformed JSON, then the entry says where", async (t) => {
    const at = async (text: string, offset: number, error: string) => {
      const answer = await send(gateway, "POST", "/body", { body: text })
      const entry = { type: "json_invalid", loc: ["body", offset], msg: "JSON decode error", input: {}, ctx: { error } }
      t.strictSame([answer.status, answer.json], [422, { detail: [entry] }], text.slice(0, 20))
    }
    await at("nope", 0, "a value was expected")
    await at('{"a": }', 6, "a value was expected")
    await at('{"a":1,}', 7, "a name in double quotes was expected")
    await at('{"a" 1}', 5, "a colon was expected")
    await at('{"a":1 "b"}', 7, "a comma or } was expected")
    await at("[1 2]", 3, "a comma or ] was expected")
    await at('{"a":"x', 5, "a string begins here and does not end")
    await at('{"a":"\n"}', 6, "a control character must be escaped")
    await at('["\\x"]', 2, "this is not an escape of JSON")
    await at('["\\u12"]', 3, "four hexadecimal digits were expected")
    await at("{} {}", 3, "the end was expected")
    await at("[".repeat(100), 100, "a value was expected")
  })

  t.test("when the body is nested too deeply, or not UTF-8, then it is refused", async (t) => {
    const deep = await send(gateway, "POST", "/body", { body: `${"[".repeat(100_000)}${"]".repeat(100_000)}` })
    t.strictSame([deep.status, typesOf(deep)], [422, ["recursion_loop"]])
    const bytes = await send(gateway, "POST", "/body", { body: Uint8Array.of(0x22, 0xff, 0x22) })
    t.strictSame([bytes.status, bytes.json], [400, { detail: "There was an error parsing the body" }])
  })
})

t.test("given a route that reads from everywhere", async (t) => {
  const gateway = await serving(t, [parts, keyed])

  t.test("when path, query, header and body are all wrong, then one list has them in that order", async (t) => {
    const answer = await send(gateway, "POST", "/parts/abc?page=0", { json: {} })
    const integer = "Input should be a valid integer, unable to parse string as an integer"
    const missing = { type: "missing", msg: "Field required", input: null }
    const few = { type: "greater_than_equal", msg: "Input should be greater than or equal to 1", ctx: { ge: 1 } }
    t.strictSame(answer.status, 422)
    t.strictSame(answer.json, {
      detail: [
        { type: "int_parsing", loc: ["path", "id"], msg: integer, input: "abc" },
        { ...few, loc: ["query", "page"], input: "0" },
        { ...missing, loc: ["query", "status"] },
        { ...missing, loc: ["header", "Idempotency-Key"] },
        { ...missing, loc: ["body", "phone"], input: {} }
      ]
    })
  })

  t.test("when everything is valid, then the handler gets what the schemas say", async (t) => {
    const headers = { "idempotency-key": "abc" }
    const answer = await send(gateway, "POST", "/parts/12?page=2&status=a%20b+c", { json: { phone: "1", more: 2 }, headers })
    t.strictSame(answer.json, {
      body: { phone: "1" },
      headers: { "Idempotency-Key": "abc" },
      params: { id: 12 },
      query: { page: 2, status: "a b c" }
    })
  })

  t.test("when the query contains text that cannot be stored, then 422", async (t) => {
    t.match(typesOf(await send(gateway, "POST", "/parts/1?status=%00", { json: { phone: "1" }, headers: { "idempotency-key": "abc" } })), [
      "string_unicode"
    ])
  })

  t.test("when there is no valid key, then 401 comes before the schema", async (t) => {
    const path = "/parts/abc"
    const detail = async (headers: Readonly<Record<string, string>>) => {
      const answer = await send(gateway, "POST", path, { json: {}, headers, key: null })
      return [answer.status, answer.json]
    }
    t.strictSame(await detail({}), [401, { detail: "Authorization header required" }])
    t.strictSame(await detail({ authorization: "Bearer " }), [401, { detail: "Invalid authorization token" }])
    t.strictSame(await detail({ authorization: "Bearer x" }), [401, { detail: "Invalid or expired token" }])
    t.strictSame(await detail({ "x-api-key": "x", authorization: "Bearer dgr_good" }), [401, { detail: "Invalid or expired API key" }])
    t.equal((await detail({ authorization: "Bearer dgr_good" }))[0], 422)
    t.equal((await detail({ authorization: "dgr_good" }))[0], 422)
  })

  t.test("when the key is a header like any other, then its absence is a 422 and an invalid one a 401, whatever the body is", async (t) => {
    const missing = await send(gateway, "POST", "/keyed", { json: {}, key: null })
    const detail = [{ type: "missing", loc: ["header", "X-API-Key"], msg: "Field required", input: null }]
    t.strictSame([missing.status, missing.json], [422, { detail }])
    const bad = await send(gateway, "POST", "/keyed", { json: {}, key: "bad" })
    t.strictSame([bad.status, bad.json], [401, { detail: "Invalid API key" }])
    t.strictSame((await send(gateway, "POST", "/keyed", { json: { phone: "1" } })).json, { organizationId: 7, apiKeyId: 3, role: "owner" })
  })
})

const typesOf = ({ json }: Answer): unknown => {
  const { detail } = json as { readonly detail: ReadonlyArray<{ readonly type: string }> } // This is a 422 of ours.
  return detail.map(({ type }) => type)
}
