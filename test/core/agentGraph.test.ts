/** When a definition can be stored, when it can be published, and which parts of it the engine returns. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import t from "tap"
import type { GraphProblem } from "#core/agent/Agent.ts"
import type { JsonObject } from "#core/Json.ts"
import { check, toolNameOf } from "#core/agent/AgentGraph.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { problemsOf } from "#core/agent/GraphRules.ts"
import * as Configurations from "#core/agent/AgentConfigurations.ts"
import { toolProblems, toolUuidsIn } from "#core/agent/ToolNames.ts"
import { nodeTypeOf, nodeTypes } from "#core/agent/NodeTypes.ts"
import { withFreshPaths, withPaths } from "#core/agent/TriggerPath.ts"

const position = { x: 0, y: 0 }
const node = (id: string, type: string, data: JsonObject = {}): JsonObject => ({
  id,
  type,
  position,
  data: { name: id, ...(nodeTypeOf(type)?.promptedAs === undefined ? {} : { prompt: "Talk." }), ...data }
})
const edge = (source: string, target: string, label = `to ${target}`): JsonObject => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label, condition: "always" }
})
const words = (problems: ReadonlyArray<GraphProblem>) => problems.map(({ kind, message, path }) => `${kind} ${path.join(".")}: ${message}`)
const start = node("s", "startCall")
const end = node("e", "endCall")
const whole = { nodes: [start, end], edges: [edge("s", "e")] }

t.test("given a definition to publish", async (t) => {
  const wrong = (part: JsonObject) => words(problemsOf({ ...whole, ...part }))

  t.test("when it is finished or a template, then nothing is wrong, and an empty one lacks its start", async (t) => {
    t.strictSame(problemsOf(whole), [])
    t.strictSame(words(problemsOf({})), words(problemsOf({ nodes: [], edges: [] })))
    t.strictSame(wrong({ nodes: [start, node("a", "agentNode"), end], edges: [edge("s", "a"), edge("a", "a"), edge("a", "e")] }), [])
    for (const { definition } of agentTemplates) t.strictSame(problemsOf(definition), [])
  })

  t.test("when a node lacks something, then it is named", async (t) => {
    t.strictSame(wrong({ nodes: [node("s", "startCall", { prompt: "  " }), end] }), [
      "node nodes.0: Value error, prompt is required for start nodes"
    ])
    t.strictSame(wrong({ nodes: [{ ...start, data: { prompt: "x" } }, end] }), ["node nodes.0.data.name: Field required"])
    t.strictSame(wrong({ nodes: [{ ...start, position: undefined }, end] }), ["node nodes.0.position: Field required"])
    t.strictSame(wrong({ nodes: [{ ...start, position: { x: 1, y: "2" } }, end] }), [
      "node nodes.0.position.y: Input should be a valid number"
    ])
    t.strictSame(wrong({ edges: [{ ...edge("s", "e"), data: { label: "" } }] }), [
      "edge edges.0.data.label: String should have at least 1 character",
      "edge edges.0.data.condition: Field required"
    ])
  })

  t.test("when a value is of the wrong kind, then it is named; null and unknown keys are accepted", async (t) => {
    const data = (more: JsonObject) => wrong({ nodes: [node("s", "startCall", more), end] })
    t.strictSame(data({ greeting: null, is_start: true, mcp_tool_filters: { a: ["b"] }, delayed_start_duration: 10 }), [])
    t.strictSame(
      data({
        greeting_type: "song",
        allow_interrupt: "yes",
        delayed_start_duration: 11,
        tool_uuids: ["a", 7],
        extraction_variables: [{ name: "a", type: "string" }, { type: "date" }, 3]
      }).sort(),
      [
        "node nodes.0.data.allow_interrupt: Input should be a valid boolean",
        "node nodes.0.data.delayed_start_duration: Input should be less than or equal to 10",
        "node nodes.0.data.extraction_variables.1.name: Field required",
        "node nodes.0.data.extraction_variables.1.type: Input should be 'string', 'number' or 'boolean'",
        "node nodes.0.data.extraction_variables.2: Input should be a valid dictionary",
        "node nodes.0.data.greeting_type: Input should be 'text' or 'audio'",
        "node nodes.0.data.tool_uuids.1: Input should be a valid string"
      ]
    )
  })

  t.test("when an integration is turned off, then only its name is required", async (t) => {
    const tuner = (more: JsonObject) => wrong({ nodes: [start, end, node("t", "tuner", more)] })
    t.strictSame(tuner({ tuner_enabled: false }), [])
    t.equal(tuner({}).length, 3)
  })

  t.test("when nodes are joined in ways they cannot be, then each is named", async (t) => {
    const cannot = (nodes: ReadonlyArray<JsonObject>, edges: ReadonlyArray<JsonObject>) =>
      wrong({ nodes, edges }).map((line) => line.replace("Value error, ", ""))
    t.strictSame(cannot([end], []), [
      "workflow nodes: Workflow must have at least one Start Call",
      "node nodes.0: End Call must have at least 1 incoming edge(s)"
    ])
    t.strictSame(cannot([start, end], [edge("s", "e"), edge("e", "s")]), [
      "node nodes.0: Start Call cannot have incoming edges",
      "node nodes.1: End Call cannot have outgoing edges"
    ])
    t.strictSame(cannot([start, end, node("g", "globalNode")], [edge("s", "e"), edge("s", "g")]), [
      "node nodes.2: Global Node cannot have incoming edges"
    ])
    t.strictSame(cannot([start, node("w", "webhook"), node("v", "webhook")], []), [])
  })
})

t.test("given a definition to store", async (t) => {
  const wrong = (part: JsonObject) => words(check({ ...whole, ...part }))

  t.test("when it is unfinished, then it can be stored", async (t) => {
    t.strictSame(wrong({ nodes: [{ id: "a", type: "agentNode" }], edges: [] }), [])
  })

  t.test("when two edges of a node would be the same tool, then the second is named", async (t) => {
    t.equal(toolNameOf("Très bien, OK"), "tr_s_bien__ok")
    t.strictSame(wrong({ edges: [edge("s", "e", "Go on!"), edge("s", "e", "go on?"), edge("e", "s", "go on!")] }), [
      'edge edges.1.data.label: Value error, Transition tool name "go_on_" is duplicated for this node. Use a unique edge label.'
    ])
  })

  t.test("when a trigger's path is invalid, then the problem says why", async (t) => {
    const path = (trigger_path: unknown) => wrong({ nodes: [start, end, node("t", "trigger", { trigger_path })] })[0]?.split("error, ")[1]
    t.equal(path(7), "Trigger path must be a string.")
    t.equal(path("x".repeat(37)), "Trigger path must be 36 characters or fewer.")
    t.match(path("a/b"), /single URL path segment/)
    t.match(path("a\n"), /single URL path segment/)
    t.strictSame([path("Spring-2_b"), path(""), path(null)], [undefined, undefined, undefined])
    t.match(
      wrong({ nodes: [node("t", "trigger", { trigger_path: "a" }), node("u", "trigger", { trigger_path: "a" })], edges: [] }).join(),
      /duplicated in this workflow.*at most one API Trigger/
    )
  })
})

t.test("given triggers without a path", async (t) => {
  const run = <A>(effect: Effect.Effect<A, never, SecureRandom.SecureRandom>) =>
    Effect.runPromise(Effect.provide(effect, SecureRandom.layerWebCrypto))
  const withTrigger = (trigger_path?: string) => ({ ...whole, nodes: [start, node("t", "trigger", { trigger_path })], kept: 1 })
  const pathIn = (definition: JsonObject) => JSON.stringify(definition).match(/"trigger_path":"([^"]*)"/)?.[1]

  t.test("when they are stored, then they keep the one they had, or get a UUID", async (t) => {
    const filled = await run(withPaths(withTrigger(), {}))
    t.match(pathIn(filled), /^[0-9a-f-]{36}$/)
    t.strictSame(filled["kept"], 1)
    t.equal(pathIn(await run(withPaths(withTrigger(), filled))), pathIn(filled))
    t.equal(pathIn(await run(withPaths(withTrigger("mine"), filled))), "mine")
    t.not(pathIn(await run(withFreshPaths(withTrigger("mine")))), "mine")
    t.equal(await run(withPaths(whole, {})), whole)
  })
})

t.test("given the types of nodes, then names are unique and every example can be stored", async (t) => {
  t.equal(new Set(nodeTypes.map(({ name }) => name)).size, 10)
  for (const { examples, name, properties } of nodeTypes) {
    t.equal(new Set(properties.map((property) => property.name)).size, properties.length, name)
    for (const { data } of examples) {
      const problems = problemsOf({ nodes: [{ id: "x", type: name, position, data }], edges: [] })
      const ofData = problems.filter(({ path }) => path.includes("data"))
      t.strictSame(ofData, [], name)
    }
  }
})

t.test("given tools attached to a node", async (t) => {
  const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
  const tools = [
    { uuid: uuid(1), name: "Look up order" },
    { uuid: uuid(2), name: "look-up (order)" },
    { uuid: uuid(3), name: "To E" }
  ]
  const attached = (...numbers: ReadonlyArray<number>) => ({
    ...whole,
    nodes: [node("s", "startCall", { tool_uuids: numbers.map(uuid) }), end]
  })

  t.test("when their names differ, then nothing is wrong", async (t) => {
    t.strictSame(toolProblems(attached(1, 1, 9), tools), [])
    t.strictSame(toolUuidsIn({ nodes: [node("s", "startCall", { tool_uuids: [uuid(1), "x", 7, uuid(1)] })] }), [uuid(1)])
  })

  t.test("when they would have the same name, or an edge's, then the node is named", async (t) => {
    t.match(words(toolProblems(attached(1, 2), tools)), [
      /^node nodes.0.data.tool_uuids: .*"Look up order", "look-up \(order\)" generate duplicate LLM tool name "look_up_order"/
    ])
    t.match(words(toolProblems(attached(3), tools)), [/Transition tool name "to_e" conflicts with custom tool "To E"/])
  })
})

t.test("given an agent's settings", async (t) => {
  const wrong = (configurations: JsonObject) =>
    Configurations.problemsOf(configurations).map(({ message, path }) => `${path.join(".")}: ${message}`)

  t.test("when they have the right types or are unknown, then they can be stored", async (t) => {
    t.strictSame(wrong({}), [])
    t.strictSame(wrong({ max_call_duration: 1200, own: { a: [1] }, dictionary: null, voicemail_detection: { enabled: true } }), [])
    t.strictSame(Configurations.sparse({ a: null, b: 0, c: { d: null } }), { b: 0, c: { d: null } })
  })

  t.test("when they say what to do about answering machines, then it must be possible", async (t) => {
    const check = (detection: unknown, ...expected: ReadonlyArray<string>) =>
      t.strictSame(wrong({ voicemail_detection: detection }), expected, JSON.stringify(detection))
    const mute = "voicemail_detection.message: Field required: what is said to the machine when `action` is 'leave_message'"
    check({ enabled: true, action: "hangup" })
    check({ enabled: true, action: "continue", message: null, long_speech_timeout: 8 })
    check({ enabled: true, action: "leave_message", message: "Call {{name}}." })
    check({ enabled: false, action: "leave_message" }, mute)
    check({ enabled: true, action: "leave_message", message: " \n" }, mute)
    check({ action: "leave_message", message: 5 }, "voicemail_detection.message: Input should be a valid string")
    check({ action: "continue", message: "x".repeat(2001) }, "voicemail_detection.message: String should have at most 2000 characters")
    check({ action: "Hangup" }, "voicemail_detection.action: Input should be 'hangup' or 'leave_message' or 'continue'")
    check({ enabled: "yes" }, "voicemail_detection.enabled: Input should be a valid boolean")
    check([], "voicemail_detection: Input should be a valid dictionary")
  })

  t.test("when they say how the agent talks, then each part is checked", async (t) => {
    t.strictSame(
      wrong({
        send_dtmf: true,
        static_lines: { filler: "Moment, bitte.", check_in: null, goodbye: "" },
        embedded: {
          nodes: { a: { say: "Hello." } },
          edges: { e: { phrases: ["yes", "sure"], dtmf: "1", confirm: false }, f: null },
          fallback_edge: "e",
          introduction: "Ada here.",
          voice: "slt"
        }
      }),
      []
    )
    t.strictSame(
      wrong({
        send_dtmf: "yes",
        static_lines: { filler: 5, reprompt: "x".repeat(501), checkin: "Hello?" },
        embedded: {
          nodes: { a: { say: ["Hello."] }, b: "Hello." },
          edges: { e: { phrases: [" ", 1], dtmf: "one", confirm: "no" } },
          introduction: 5
        }
      }),
      [
        "static_lines.filler: Input should be a valid string",
        "static_lines.reprompt: String should have at most 500 characters",
        "static_lines.checkin: Extra inputs are not permitted; known are filler, reprompt, check_in, goodbye, apology",
        "send_dtmf: Input should be a valid boolean",
        "embedded.nodes.a.say: Input should be a valid string",
        "embedded.nodes.b: Input should be a valid dictionary",
        "embedded.edges.e.phrases.0: String should match pattern '\\S'",
        "embedded.edges.e.phrases.1: Input should be a valid string",
        "embedded.edges.e.dtmf: String should match pattern '^[0-9*#A-D]+$'",
        "embedded.edges.e.confirm: Input should be a valid boolean",
        "embedded.introduction: Input should be a valid string"
      ]
    )
    t.strictSame(wrong({ embedded: [], static_lines: "Hello." }), [
      "static_lines: Input should be a valid dictionary",
      "embedded: Input should be a valid dictionary"
    ])
  })

  t.test("when they are invalid, then each path is named", async (t) => {
    t.strictSame(
      wrong({
        max_call_duration: 1201,
        turn_start_min_words: 1.5,
        turn_stop_strategy: "guess",
        context_compaction_enabled: "yes",
        ambient_noise_configuration: { volume: "loud" },
        external_pbx_field_mappings: [{ context_path: "a", destination_field: "1" }, {}],
        model_overrides: { llm: "gpt" }
      }),
      [
        "max_call_duration: Input should be less than or equal to 1200",
        "turn_start_min_words: Input should be a valid integer, got a number with a fractional part",
        "turn_stop_strategy: Input should be 'transcription' or 'turn_analyzer'",
        "context_compaction_enabled: Input should be a valid boolean",
        "ambient_noise_configuration.volume: Input should be a valid number",
        "external_pbx_field_mappings.0.destination_field: String should match pattern '^[A-Za-z][A-Za-z0-9_]{0,63}$'",
        "external_pbx_field_mappings.1.context_path: Field required",
        "external_pbx_field_mappings.1.destination_field: Field required",
        "model_overrides.llm: Input should be a valid dictionary"
      ]
    )
  })
})
