/** What is recorded about a single call before it is dialed. */
import { Effect, Exit } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { runName } from "#core/call/AttemptBeginning.ts"
import type { SingleCall } from "#core/call/Dialer.ts"
import { publishedOf } from "#test/support/given.ts"
import { beginCall, callId, definition, install, makeAgent, makeConfig, ours } from "./services.ts"

const { run, sql, test } = await install(t)
const agents = await run(Agents)

t.test("given an agent with template variables of its own", async (t) => {
  const { agent, other, telephony } = await run(
    Effect.gen(function* () {
      const templateContextVariables = { first_name: "Ada", city: "Rome", provider: "mine" }
      const agent = yield* agents.create(ours, { name: "Ada", definition: definition(), templateContextVariables })
      return { agent, other: yield* makeAgent(), telephony: yield* makeConfig("main") }
    })
  )
  const call = { isTest: true, phoneNumber: "+14155550100", initialContext: { first_name: "Bob" } }
  const begin = (id: typeof callId, more: Partial<SingleCall>) => beginCall(id, agent, telephony.id, { ...call, ...more })
  const idOf = (last: number) => `${callId.slice(0, -1)}${last}` as typeof callId // The same shape.

  test(t, "when it is tested, then it has them, but the request's values and the call's own take precedence", function* (t) {
    const attempt = yield* begin(callId, {})
    const [row] = yield* sql`SELECT name, agent_definition_id FROM runs WHERE attempt_id = ${callId}::uuid`
    t.match(attempt.initialContext, { first_name: "Bob", city: "Rome", provider: "fake", called_number: "+14155550100" })
    t.strictSame(row, { name: runName(callId), agentDefinitionId: agent.currentDefinitionId })
  })

  test(t, "when it is called in production, then it does not have them", function* (t) {
    const { initialContext } = yield* begin(idOf(2), { isTest: false, phoneNumber: "+14155550102" })
    t.notOk("city" in initialContext)
  })

  test(t, "when the version is another agent's, or the id has been used, then nothing is recorded", function* (t) {
    const results = [yield* Effect.exit(begin(idOf(3), { definitionId: publishedOf(other) })), yield* Effect.exit(begin(callId, {}))]
    t.strictSame(results.map(Exit.isFailure), [true, true])
    t.equal((yield* sql`SELECT id FROM attempts UNION ALL SELECT attempt_id FROM runs`).length, 4, "of the two calls before")
  })
})
