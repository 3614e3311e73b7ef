/** Scripts of callees: their syntax, what the callee does next, and what is reported of an agent that does not get where it should. */
import t from "tap"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import type { Conclusion } from "#core/agent/conversation/ConversationState.ts"
import type { CalleeScript, CalleeStep } from "#core/agent/regression/CalleeScript.ts"
import { chooseStep, neverDone } from "#core/agent/regression/chooseStep.ts"
import { misfits } from "#core/agent/regression/misfits.ts"
import { mostScripts, readScripts } from "#core/agent/regression/readScripts.ts"
import { describeStep, verdictOf } from "#core/agent/regression/Verdict.ts"
import { freshWalk, noted, spoken, type Walk } from "#core/agent/regression/Walk.ts"
import { isSaid } from "#core/agent/regression/words.ts"
import { definition } from "#test/support/talkScript.ts"

const script = (more: object = {}) => ({ name: "one", callee: [{ says: "Yes." }], expect: { disposition: "user_qualified" }, ...more })
const problemsIn = (given: unknown) => {
  const read = readScripts(given)
  return "problems" in read ? read.problems.map(({ message, path }) => `${path.join(".")}: ${message}`) : []
}
const readOne = (more: object = {}, shared: object = {}): CalleeScript => {
  const read = readScripts({ ...shared, scripts: [script(more)] }, { own: 1, city: "Bern" })
  const one = "scripts" in read ? read.scripts[0] : undefined
  if (one === undefined) throw new Error("The script cannot be read")
  return one
}

t.test("given invalid scripts, then each problem is named with its place", async (t) => {
  const wrong = (given: unknown, ...expected: ReadonlyArray<string | RegExp>) => {
    const problems = problemsIn(given)
    t.equal(problems.length, expected.length, JSON.stringify(problems))
    t.match(problems, expected)
  }
  wrong(undefined, ": Field required")
  wrong([], ": Input should be a valid dictionary")
  wrong({ scripts: [] }, "scripts: List should have at least 1 item")
  wrong({}, "scripts: Field required")
  wrong({ scripts: Array.from({ length: mostScripts + 1 }, (_, n) => script({ name: `${n}` })) }, /^scripts: List should have at most/)
  const long = Array.from({ length: 51 }, () => ({ says: "a", times: 20 }))
  wrong({ scripts: [script({ callee: long })] }, "scripts: The callees may have at most 1000 turns together, not 1020")
  wrong({ scripts: [script(), script()] }, "scripts.1.name: Another script has the same name")
  wrong({ scripts: [{}] }, "scripts.0.name: Field required", "scripts.0.callee: Field required", "scripts.0.expect: Field required")
  wrong({ scripts: [script({ expects: {} })] }, /^scripts\.0\.expects: Extra inputs are not permitted; known are name, /)
  wrong({ scripts: [script({ expect: {} })] }, "scripts.0.expect: Input should name at least one thing to expect")
  wrong({ scripts: [script({ expect: { says: ["..."] } })] }, "scripts.0.expect.says.0: Input should have at least one letter or digit")
  wrong({ scripts: [script({ expect: { variables: { a: { is: 1 } } } })] }, /a\.contains: Field required/, /a\.is: Extra inputs/)
  wrong({ scripts: [script({ starts_at: "2026-13-01T00:00:00Z" })] }, /^scripts\.0\.starts_at: Input should be a time in ISO 8601/)
  wrong({ scripts: [script({ time_zone: "Mars" })] }, /^scripts\.0\.time_zone: /)
  wrong({ scripts: [script({ tools: { a: { status: 9 } } })] }, "scripts.0.tools.a.status: Input should be greater than or equal to 100")
  wrong({ scripts: [script({ tools: { a: [{ fails: "x", status: 200 }] } })] }, /^scripts\.0\.tools\.a\.0: A tool either answers/)
  const step = (given: unknown, ...expected: ReadonlyArray<RegExp>) => wrong({ scripts: [script({ callee: [given] })] }, ...expected)
  step({}, /^scripts\.0\.callee\.0: A step needs exactly one of says, presses, silence, hangs_up, beep$/)
  step({ says: "a", presses: "1" }, /exactly one of/)
  step({ says: " " }, /says: String should match pattern/)
  step({ presses: "x" }, /presses: String should match pattern/)
  step({ silence: 0 }, /silence: Input should be greater than or equal to 0\.1/)
  step({ hangs_up: false }, /hangs_up: Input should be true/)
  step({ says: "a", at: 5 }, /at: Input should be a valid string/)
  step({ say: "a" }, /say: Extra inputs/, /exactly one of/)
})

t.test("given scripts, then their own context wins over the document's, and that over the agent's", async (t) => {
  t.strictSame(readOne({ context: { name: "Ada" } }, { context: { name: "Bob", city: "Rome" } }).context, {
    own: 1,
    city: "Rome",
    name: "Ada"
  })
  const { callee, startsAt, tools } = readOne({
    starts_at: "2026-03-05T10:00:00-05:00",
    callee: [{ at: "a", hears: "b", says: "c", times: 2 }, { presses: "1#" }, { silence: 3 }, { beep: true }, { hangs_up: true }],
    tools: { "Find Order!": [{ body: { a: 1 } }, { status: 404, body: "none" }, { fails: "down" }] }
  })
  t.equal(startsAt, Date.UTC(2026, 2, 5, 15, 0))
  t.strictSame(callee.map(describeStep), ["says 'c' at a on hearing 'b'", "presses 1#", "is silent for 3 s", "beeps", "hangs up"])
  t.strictSame(
    tools.get("find_order"),
    [
      { _tag: "Response", status: 200, body: '{"a":1}' },
      { _tag: "Response", status: 404, body: "none" },
      { _tag: "Failed", reason: "down" }
    ],
    "tools go by the name that the model knows"
  )
})

t.test("given words, then they are found as whole words, regardless of case and punctuation", async (t) => {
  t.ok(isSaid("GOOD-bye", "Well then: good bye!"))
  t.ok(isSaid("it's", "Its late"))
  t.notOk(isSaid("no", "I know now."))
  t.notOk(isSaid("good day", "good, a day"))
  t.ok(isSaid("さようなら", "では、さようなら。"))
  t.ok(isSaid("no no yes", "No, no, no: yes!"))
  t.notOk(isSaid("a b", "a 9 b"))
  t.ok(isSaid("grüße", "Viele GRÜSSE".replace("SS", "ß")))
})

const graph = compile(definition({ greeting: "Hi." }))
const nodeOf = (id: string) => {
  const node = graph?.nodes.get(id)
  if (node === undefined) throw new Error(`There is no node ${id}`)
  return node
}

t.test("given several steps, then the first that fits is done, each as often as it may be", async (t) => {
  const { callee } = readOne({
    callee: [
      { at: "ask", says: "at the node" },
      { hears: "your name", says: "at the words", times: 2 },
      { says: "first" },
      { says: "second" },
      { at: "bye", says: "never" }
    ]
  })
  const used = new Map<CalleeStep, number>()
  const does = (id: string, heard: string) => {
    const step = chooseStep(callee, used, { node: nodeOf(id), heard: [heard] })
    if (typeof step === "string") return step
    used.set(step, (used.get(step) ?? 0) + 1)
    return step.act._tag === "Says" ? step.act.text : step.act._tag
  }
  t.equal(does("start", "Hello."), "first")
  t.equal(does("ask", "What is your name?"), "at the node")
  t.equal(does("ask", "What is your name?"), "at the words")
  t.equal(does("ask", "Your name, please?"), "at the words")
  t.strictSame(neverDone(callee, used).map(describeStep), ["says 'second'"], "steps with conditions need not be done")
  t.equal(does("ask", "Your name?"), "second")
  t.equal(does("ask", "Your name?"), "NothingFits")
  t.equal(does("bye", "Goodbye."), "never")
  t.equal(does("bye", "Goodbye."), "NothingLeft")
})

t.test("given a script that names what the agent does not have, then it is refused", async (t) => {
  if (graph === undefined) throw new Error("The graph has no start")
  const given = readOne({
    callee: [
      { at: "ask", says: "a" },
      { at: "asks", says: "b" }
    ],
    expect: { path: ["start", "end"], edges: ["Yes", "Maybe"], visits: ["x"], never_visits: ["y", "sorry"] }
  })
  t.strictSame(
    misfits(graph, [given]).map(({ path }) => path.join(".")),
    ["callee.1.at", "expect.path.1", "expect.edges.1", "expect.visits.0", "expect.never_visits.0"].map((path) => `scripts.0.${path}`)
  )
})

const conclusion: Conclusion = {
  disposition: "user_qualified",
  tags: ["user_qualified", "user_speech"],
  gathered: { extracted_variables: { seats: 3, name: "Ada Lovelace", list: [1, 2] } },
  isVoicemail: false,
  messageFate: undefined
}
const toolCall = (name: string) => ({ id: name, name, arguments: {} })
/** start -Yes-> ask -Done-> bye, with a tool in between. */
const walked: Walk = [
  { _tag: "NodeEntered" as const, node: nodeOf("start"), previous: undefined },
  { _tag: "ToolStarted" as const, call: toolCall("yes") },
  { _tag: "NodeEntered" as const, node: nodeOf("ask"), previous: nodeOf("start") },
  { _tag: "ToolEnded" as const, call: toolCall("yes"), result: { status: "done" } },
  { _tag: "ToolStarted" as const, call: toolCall("find_order") },
  { _tag: "ToolEnded" as const, call: toolCall("find_order"), result: { status: "success" } },
  { _tag: "ToolStarted" as const, call: toolCall("done") },
  { _tag: "NodeEntered" as const, node: nodeOf("bye"), previous: nodeOf("ask") },
  { _tag: "ToolEnded" as const, call: toolCall("done"), result: { status: "done" } },
  // An end-call tool of the same name as an edge of the node before leads along no edge.
  { _tag: "ToolEnded" as const, call: toolCall("done"), result: { status: "done" } }
].reduce(noted, { ...spoken(freshWalk, "agent", "Hello, Ada."), conclusion })

t.test("given a conversation, then what it did not reach is reported, with what it reached", async (t) => {
  const comes = (expect: object, ...expected: ReadonlyArray<string>) => {
    const { failures, hasPassed } = verdictOf(readOne({ expect }), walked, [])
    const told = failures.map(({ check, message }) => `${check}: ${message}`)
    t.strictSame(told, expected)
    t.equal(hasPassed, expected.length === 0)
  }
  comes({
    path: ["start", "ask", "bye"],
    edges: ["Yes", "Done"],
    visits: ["ask"],
    never_visits: ["sorry"],
    variables: { seats: 3, name: { contains: "ada" }, list: [1, 2], other: null },
    disposition: "user_qualified",
    tags: ["user_speech"],
    says: ["hello ada"],
    never_says: ["goodbye"],
    calls: ["Find order"]
  })
  comes({ path: ["start", "bye"] }, "path: expected start > bye; came start > ask > bye")
  comes({ path: ["start", "ask", "bye", "bye"] }, "path: expected start > ask > bye > bye; came start > ask > bye")
  comes({ edges: ["No"] }, "edges: expected No; came Yes > Done")
  comes({ edges: [] }, "edges: expected nothing; came Yes > Done")
  comes({ visits: ["sorry"], never_visits: ["ask"] }, "visits: 'sorry' was never entered", "never_visits: 'ask' was entered")
  comes(
    { variables: { seats: "3", name: { contains: "bob" }, list: null, other: true } },
    'variables: expected seats to be "3"; came 3',
    "variables: expected name to contain 'bob'; came \"Ada Lovelace\"",
    "variables: expected list to be absent; came [1,2]",
    "variables: expected other to be true; came nothing"
  )
  comes({ disposition: "user_hangup" }, "disposition: expected user_hangup; came user_qualified")
  comes({ tags: ["opted_out"] }, "tags: 'opted_out' is not among the tags: user_qualified, user_speech")
  comes({ says: ["goodbye"], never_says: ["Hello"] }, "says: 'goodbye' was never said", "never_says: 'Hello' was said")
  comes({ calls: ["book"] }, "calls: 'book' was never called")
})

t.test("given a conversation that did not conclude, then no disposition fits", async (t) => {
  const { failures } = verdictOf(readOne(), freshWalk, [])
  t.match(failures, [
    { check: "disposition", message: /came none: the conversation did not conclude/, expected: "user_qualified", came: null }
  ])
})
