/** The templates, tested with scripted callees and the built-in model. */
import { Duration, Effect } from "effect"
import { readFileSync } from "node:fs"
import t from "tap"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { misfits } from "#core/agent/regression/misfits.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"

const files: Readonly<Record<string, string>> = {
  "Appointment reminder": "appointmentReminder",
  "Lead qualification": "leadQualification",
  "Satisfaction survey": "satisfactionSurvey"
}
const model = embedded.open({}, { egress: webhooksOf() })
const limit = Duration.seconds(60)

for (const { definition, name } of agentTemplates) {
  t.test(`given the template ${name}, then every callee gets where they should`, async (t) => {
    const graph = compile(definition)
    const read = readScripts(JSON.parse(readFileSync(new URL(`scripts/${files[name]}.json`, import.meta.url), "utf8")))
    if ("problems" in read || graph === undefined) throw new Error(JSON.stringify(read))
    t.ok(read.scripts.length >= 5)
    t.strictSame(misfits(graph, read.scripts), [])
    const plan = { graph, tools: new Map(), settings: settingsOf({}), canHear: true }
    const verdicts = await runLive(
      Effect.forEach(read.scripts, (script) => rehearse({ plan, model, script, limit }), { concurrency: "unbounded" })
    )
    for (const verdict of verdicts) t.strictSame(verdict.failures, [], `${verdict.name}: ${JSON.stringify(verdict.transcript)}`)
  })
}
