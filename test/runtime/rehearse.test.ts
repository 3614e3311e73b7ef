/** Scripted callees talk to agents, without audio and without anybody waiting. */
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { Verdict } from "#core/agent/regression/Verdict.ts"
import type { JsonObject } from "#core/Json.ts"
import { ModelError, type OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { run } from "#test/support/run.ts"
import { call, planOf, storedTool, text, toolUuid } from "#test/support/talk.ts"
import { definition, follower, played } from "#test/support/talkScript.ts"

const scriptsIn = (given: unknown) => {
  const read = readScripts(given)
  if ("problems" in read) throw new Error(JSON.stringify(read.problems))
  return read.scripts
}
const limit = Duration.seconds(60)

interface Given {
  readonly agent?: JsonObject
  readonly configurations?: JsonObject
  readonly tools?: Parameters<typeof planOf>[2]
  readonly model?: OpenLanguageModel
  /** The script's answers for tools. */
  readonly answers?: object
}
const greets = (greeting: string, more: JsonObject = {}) => definition({ greeting, ...more })
const scriptOf = (callee: ReadonlyArray<object>, expect: object, more: object = {}) => {
  const [script] = scriptsIn({ scripts: [{ name: "one", callee, expect, context: { first_name: "Ada" }, ...more }] })
  if (script === undefined) throw new Error("There is no script")
  return script
}
/** Runs on a clock that stands still, so that nothing waits. */
const tried = (
  callee: ReadonlyArray<object>,
  expect: object,
  { agent = greets("Hello {{first_name}}."), answers = {}, configurations = {}, model = played(follower), tools = [] }: Given = {}
): Promise<Verdict> => {
  const script = scriptOf(callee, expect, { tools: answers })
  return run(rehearse({ plan: planOf(agent, configurations, tools), model, script, limit }))
}
const linesOf = ({ transcript }: Verdict) => transcript.map(({ text: words, who }) => `${who}: ${words}`)
const said = ({ failures }: Verdict) => failures.map(({ check, message }) => `${check}: ${message}`)

t.test("given a cooperative callee, then the whole path is reported", async (t) => {
  const verdict = await tried([{ says: "yes" }, { says: "done" }], { path: ["start", "ask", "bye"], edges: ["Yes", "Done"] })
  t.match(verdict, { hasPassed: true, failures: [], disposition: "user_qualified", tags: ["user_qualified", "user_speech"] })
  t.strictSame(verdict.transcript, [
    { who: "agent", text: "Hello Ada.", node: "start" },
    { who: "callee", text: "yes", node: "start" },
    { who: "agent", text: "At ask.", node: "ask" },
    { who: "callee", text: "done", node: "ask" },
    { who: "agent", text: "At bye.", node: "bye" }
  ])
})

t.test("given a silence, then the timers of the call fire during it, each at its time", async (t) => {
  const short = await tried([{ silence: 9.9 }, { says: "yes" }, { hangs_up: true }], { never_says: ["check_in"], visits: ["ask"] })
  t.strictSame(said(short), [])
  const one = await tried([{ silence: 10 }, { hears: "check in", says: "yes" }, { hangs_up: true }], { visits: ["ask"] })
  t.strictSame(said(one), [], "what the agent said in it has been heard")
  const long = await tried([{ silence: 1000 }], { disposition: "user_idle_max_duration_exceeded" })
  t.strictSame(said(long), [])
  t.strictSame(linesOf(long), ["agent: Hello Ada.", "event: the callee is silent for 1000 s", "agent: check_in", "agent: farewell"])
  const configurations = { max_call_duration: 60, max_user_idle_timeout: 90 }
  const callee = [{ says: "hm", times: 20 }, { silence: 100 }]
  t.strictSame(said(await tried(callee, { disposition: "call_duration_exceeded" }, { configurations })), [])
})

t.test("given keys, then the agent waits for the whole number, and no longer", async (t) => {
  const extraction = { extraction_enabled: true, extraction_variables: [{ name: "order", type: "string" }] }
  const model = played((request) => {
    const last = request.messages.findLast(({ _tag }) => _tag === "User")
    const keyed = last?._tag === "User" ? last.text : ""
    return request.purpose === "extract" ? [call("save_variables", { order: keyed })] : [text(`Thank you for ${keyed}.`)]
  })
  const callee = [{ presses: "4711" }, { hangs_up: true }]
  const verdict = await tried(callee, { variables: { order: "4711" } }, { agent: greets("Your number?", extraction), model })
  t.strictSame(said(verdict), [])
  t.match(linesOf(verdict), ["agent: Your number?", "callee: [presses 4711]", "agent: Thank you for 4711."])
})

t.test("given an agent that starts late, then nobody waits for it", async (t) => {
  const agent = greets("Hello.", { delayed_start: true, delayed_start_duration: 5 })
  t.strictSame(said(await tried([{ hears: "hello", says: "yes" }, { hangs_up: true }], { visits: ["ask"] }, { agent })), [])
})

t.test("given a machine, then a message is left after the beep", async (t) => {
  const configurations = { voicemail_detection: { enabled: true, action: "leave_message", message: "Call {{first_name}} back." } }
  const verdict = await tried(
    [{ says: "Please leave a message after the tone." }, { beep: true }],
    { disposition: "voicemail_detected", says: ["call ada back"] },
    { configurations }
  )
  t.strictSame(said(verdict), [])
})

t.test("given tools, then the script answers for them, and no request is sent", async (t) => {
  const tools = [storedTool(1, "Find order", { type: "http_api", config: { method: "GET", url: "https://shop.example/orders" } })]
  const agent = greets("Hi.", { tool_uuids: [toolUuid(1)] })
  const model = played((request) => {
    const last = request.messages.at(-1)
    if (last?._tag === "ToolResult") return [text(`It says ${JSON.stringify(last.result)}.`)]
    return request.purpose === "turn" ? [call("find_order")] : follower(request)
  })
  const twice = [{ says: "where is it" }, { says: "and now" }, { hangs_up: true }]
  const answers = { "Find order": [{ status: 404, body: { error: "none" } }, { fails: "It is down." }] }
  const answered = await tried(twice, { calls: ["find_order"] }, { tools, agent, answers, model })
  t.strictSame(said(answered), [])
  t.match(linesOf(answered), [
    "agent: Hi.",
    "callee: where is it",
    "event: calls find_order",
    'agent: It says {"status":"success","status_code":404,"data":{"error":"none"}}.',
    "callee: and now",
    "event: calls find_order",
    'agent: It says {"status":"error","error":"It is down."}.'
  ])
  const unforeseen = await tried(twice, { calls: ["find_order"] }, { tools, agent, model })
  t.strictSame(said(unforeseen), ["tools: the agent called find_order, for which the script has no answer"])
})

t.test("given a script that does not fit the conversation, then the failure says where", async (t) => {
  const lost = await tried([{ at: "ask", says: "done" }], { visits: ["start"] })
  t.strictSame(said(lost), ["callee: the script has nothing for the callee to do at start after 'Hello Ada.'"])
  t.equal(lost.disposition, "user_hangup")
  const early = await tried([{ says: "no" }, { says: "but wait" }], { path: ["start", "sorry"] })
  t.strictSame(said(early), ["callee: the call ended before the callee says 'but wait'"])
})

t.test("given a model that cannot be opened or never answers, then the test fails, and says so", async (t) => {
  const refused = Effect.fail(new ModelError({ reason: "auth", isRetryable: false, message: "the key is wrong" }))
  t.strictSame(said(await tried([], { visits: ["start"] }, { model: refused })), [
    "run: the language model could not be opened: auth",
    "visits: 'start' was never entered"
  ])
  const script = scriptOf([{ says: "yes" }], { visits: ["start"] })
  const verdict = await run(function* () {
    const plan = planOf(greets("Hi."))
    const fiber = yield* Effect.forkChild(rehearse({ plan, model: played(() => "hangs"), script, limit }))
    yield* TestClock.adjust(limit)
    return yield* Fiber.join(fiber)
  })
  t.strictSame(said(verdict), ["run: the conversation had not come to its end after 60 s"])
})

t.test("given an agent that says more than can be compared, then the callee hangs up, and the test fails", async (t) => {
  const model = played(({ purpose }) => (purpose === "extract" ? [call("save_variables", {})] : [text("word ".repeat(790))]))
  const callee = ["Go on.", "And on."].map((says) => ({ says, times: 20 }))
  const verdict = await tried(callee, { never_says: ["anything else"] }, { model })
  t.strictSame(said(verdict).slice(0, 1), ["run: the agent has said more than 100000 characters"])
  t.equal(verdict.disposition, "user_hangup")
})
