/** Tests of agents with scripted callees. */
import Type, { type Static } from "typebox"
import type { AgentTestRequest, AgentTestRun } from "#core/agent/regression/AgentTests.ts"
import { mostScripts } from "#core/agent/regression/readScripts.ts"
import type { Verdict } from "#core/agent/regression/Verdict.ts"
import { nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"
import { VersionStatusWire } from "./Agent.ts"

const scriptText =
  "`name`; `callee`, a list of steps; `expect`, what has to come of it; and if wanted `context`, `starts_at`, `time_zone` and `tools`. A step has one of " +
  "`says`, `presses` (keys), `silence` (seconds), `beep: true` and `hangs_up: true`. It is done at the first turn of the callee at which it has " +
  "not been done `times` times (1), and at which the agent is at the node `at` and has just said the words `hears`, where these are given. When " +
  "all steps have been done, the callee hangs up. `tools` maps the name of a tool to its answer, or a list of answers: `status` and `body`, or " +
  "`fails`. `expect` may have `path` (all nodes, in order), `edges` (all labels, in order), `visits`, `never_visits`, `variables` (a value, null " +
  "for none, or `{contains: words}`), `disposition`, `tags`, `says`, `never_says` (words of the agent) and `calls` (tools). Nodes go by their " +
  "name or id. Unknown keys are refused."

const example = {
  name: "confirms",
  callee: [{ says: "Yes, that is fine." }],
  expect: { path: ["Remind", "Confirmed"], disposition: "user_qualified", never_says: ["sorry"] }
}

export const TestAgent = Type.Object(
  {
    version_number: optional(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "By default the draft, or else the published version." })
    ),
    context: optional(object("What contacts bring, in all scripts: over the agent's `template_context_variables`.")),
    scripts: Type.Array(Type.Unsafe<Readonly<Record<string, unknown>>>({ ...object(scriptText), examples: [example] }), {
      minItems: 1,
      maxItems: mostScripts
    })
  },
  { title: "TestWorkflow" }
)

export const testRequestOf = ({ context, scripts, version_number }: Static<typeof TestAgent>): AgentTestRequest => ({
  document: { context, scripts },
  versionNumber: orUndefined(version_number)
})

const FailureWire = Type.Object(
  {
    check: Type.String({
      description: "The member of `expect`; or `callee`, `tools` or `run` if the conversation could not go on as scripted."
    }),
    message: Type.String(),
    expected: Type.Unknown(),
    came: Type.Unknown()
  },
  { title: "WorkflowTestFailure" }
)
const TranscriptLineWire = Type.Object(
  { who: Type.Enum(["agent", "callee", "event"]), text: Type.String(), node: Type.String() },
  { title: "WorkflowTestLine" }
)
const VerdictWire = Type.Object(
  {
    name: Type.String(),
    passed: Type.Boolean(),
    failures: Type.Array(FailureWire),
    path: Type.Array(Type.String()),
    edges: Type.Array(Type.String()),
    variables: object(),
    disposition: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    transcript: Type.Array(TranscriptLineWire)
  },
  { title: "WorkflowTestVerdict" }
)
const verdictWire = ({
  disposition,
  edges,
  failures,
  hasPassed,
  name,
  path,
  tags,
  transcript,
  variables
}: Verdict): Static<typeof VerdictWire> => ({
  name,
  passed: hasPassed,
  failures: [...failures],
  path: [...path],
  edges: [...edges],
  variables,
  disposition: orNull(disposition),
  tags: [...tags],
  transcript: [...transcript]
})

export const AgentTestedWire = Type.Object(
  {
    passed: Type.Boolean({ description: "Whether all scripts have passed." }),
    version_number: Type.Integer(),
    version_status: VersionStatusWire,
    verdicts: Type.Array(VerdictWire, { description: "In the order of the scripts." })
  },
  { title: "WorkflowTested" }
)
export const agentTestedWire = ({ verdicts, versionNumber, versionStatus }: AgentTestRun): Static<typeof AgentTestedWire> => ({
  passed: verdicts.every(({ hasPassed }) => hasPassed),
  version_number: versionNumber,
  version_status: versionStatus,
  verdicts: verdicts.map(verdictWire)
})
