/** What a node asks for, by its variables. */
import t from "tap"
import { expectedAt } from "#core/agent/conversation/Expectation.ts"
import type { JsonObject } from "#core/Json.ts"
import type { Expectation } from "#core/model/EndOfTurn.ts"
import { planOf } from "#test/support/talk.ts"

const nodeAsking = (...variables: ReadonlyArray<JsonObject>) =>
  planOf({
    nodes: [{ id: "1", type: "startCall", data: { name: "Start", extraction_enabled: true, extraction_variables: variables } }],
    edges: []
  }).graph.start

t.test("given a node, when it asks for something, then its variables tell how patient the agent has to be", async (t) => {
  const check = (name: string, expected: Expectation, more: JsonObject = {}) =>
    t.strictSame(expectedAt(nodeAsking({ name, type: "string", ...more })), expected, name)
  const anything: Expectation = { _tag: "Anything" }
  check("phone_number", { _tag: "Digits", least: 7, most: 15 })
  check("zip", { _tag: "Digits", least: 5, most: 9 })
  check("account_number", { _tag: "Digits", least: 3, most: 40 }, { type: "number" })
  check("key", { _tag: "Digits", least: 4, most: 40 }, { prompt: "The last four digits of the card." })
  check("e_mail", { _tag: "Spelling" })
  check("surname", { _tag: "Spelling" }, { prompt: "Ask them to spell it." })
  check("number_of_guests", anything, { type: "number" })
  check("wish", anything)
  check("has_phone", anything, { type: "boolean" })
  t.strictSame(expectedAt(nodeAsking()), anything)
  const several = nodeAsking({ name: "wish", type: "string" }, { name: "phone", type: "string" })
  t.match(expectedAt(several), { _tag: "Digits" })
})
