/** One graph, walked with the built-in rules and with a model behind each protocol: the path, the variables and the end are the same. */
import { Duration, Effect } from "effect"
import t, { type Test } from "tap"
import { anthropic } from "#adapters/voice/anthropic/anthropic.ts"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { google } from "#adapters/voice/google/google.ts"
import { openai } from "#adapters/voice/openai/openai.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { orderAgent } from "#test/conversations/graph.ts"
import { type Callee, collected, delivered, think, thinkers } from "#test/conversations/thinkers.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { planOf } from "#test/support/talk.ts"

const egress = webhooksOf({ privateWebhooks: true })
const providers = { openai, anthropic, google }
const names = ["openai", "anthropic", "google"] as const
/** A model whose service understands this callee, after these faults. */
const over = async (
  t: Test,
  name: (typeof names)[number],
  callee: Callee,
  ...faults: ReadonlyArray<RawReply>
): Promise<OpenLanguageModel> => providers[name].open({ ...(await thinkers[name](t, think(callee), ...faults)) }, { egress })

const walk = (model: OpenLanguageModel, callee: Callee) => {
  const steps = callee.map(({ hears, says }) => ({ hears, says, times: 3 }))
  const read = readScripts({ scripts: [{ name: "one", callee: steps, context: {}, expect: { visits: ["Reach the contact"] } }] })
  const [script] = "problems" in read ? [] : read.scripts
  if (script === undefined) throw new Error(JSON.stringify(read))
  const rehearsed = rehearse({ plan: planOf(orderAgent, { first_name: "Ann" }), model, script, limit: Duration.seconds(120) })
  return runLive(Effect.provideService(rehearsed, CurrentConversationMetrics, new ConversationMetrics()))
}

t.test(
  "given the same callee, when the agent thinks with another service, then it takes the same path to the same variables",
  async (t) => {
    for (const [callee, end, tells] of [
      [delivered, "Delivered with a ring", ["customer_number", "delivery_date", "boxes"]],
      [collected, "Collected on foot", ["customer_number", "collection_time"]]
    ] as const) {
      const { disposition, edges, path, variables } = await walk(embedded.open({}, { egress }), callee)
      t.equal(path.at(-1), end, "the built-in rules reach the end")
      t.strictSame(Object.keys(variables).toSorted(), [...tells].toSorted(), "and find out what was told")
      for (const name of names) {
        const other = await walk(await over(t, name, callee), callee)
        t.strictSame(
          [other.path, other.edges, other.variables, other.disposition],
          [path, edges, variables, disposition],
          `${name}: ${end}`
        )
      }
    }
  }
)

/** What the first request meets. None of it is an answer, and each service may send it. */
const faults: Readonly<Record<string, RawReply>> = {
  "is overloaded": json({}, 503),
  "has no room for a moment": json({}, 429, { "retry-after": "1" }),
  "breaks off": { pieces: [], ending: "reset" },
  "ends without an answer": { pieces: [] },
  "sends half a message": { pieces: ['data: {"ty'] },
  "sends a page": { status: 502, contentType: "text/html", pieces: ["<html>"] }
}

t.test("given a service that fails at first, when it answers then, then the path is the same", async (t) => {
  const usual = await walk(embedded.open({}, { egress }), delivered)
  for (const name of names)
    for (const [what, fault] of Object.entries(faults)) {
      const other = await walk(await over(t, name, delivered, fault), delivered)
      t.strictSame([other.path, other.variables, other.disposition], [usual.path, usual.variables, usual.disposition], `${name} ${what}`)
    }
})
