/** A conversation carried out with a scripted model and a speaker without a voice. */
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { type LanguageModel, ModelError, noTokens } from "#core/model/LanguageModel.ts"
import {
  type ConversationActor,
  type ConversationFact,
  type ConversationPorts,
  makeConversation
} from "#runtime/conversation/ConversationActor.ts"
import { ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { run } from "#test/support/run.ts"
import { story } from "#test/support/story.ts"
import { call, finished, planOf, storedTool, text, toolUuid } from "#test/support/talk.ts"
import { definition, follower } from "#test/support/talkScript.ts"

type Answer = LanguageModel["answer"]
const broken = () => {
  throw new Error("a fault")
}
const followed: Answer = (request) => {
  const reply = follower(request)
  return typeof reply === "string" ? Stream.never : Stream.fromIterable([...reply, finished])
}

/** Each line counts as heard as soon as it is complete. */
const opened = Effect.fnUntraced(function* (
  { answer = followed, ...ports }: Partial<Omit<ConversationPorts, "model">> & { readonly answer?: Answer },
  plan = planOf(definition({ greeting: "Hello." }))
) {
  const said: Array<string> = []
  const facts: Array<ConversationFact> = []
  const ends: Array<string> = []
  let line = ""
  const actor: ConversationActor = yield* makeConversation(plan, {
    model: { provider: "scripted", model: "one", answer },
    speaker: {
      say: (id, words, { isLast }) => {
        line += words
        if (!isLast) return
        said.push(line)
        line = ""
        actor.tell({ _tag: "LineSpoken", line: id })
      },
      play: (id) => actor.tell({ _tag: "LineFailed", line: id }),
      stop: () => {
        line = ""
      }
    },
    runTool: () => Effect.never,
    sendDigits: () => Effect.succeed({ _tag: "Sent" }),
    transfer: () => Effect.succeed({ _tag: "Failed", reason: "Not here." }),
    write: (fact) => Effect.sync(() => void facts.push(fact)),
    hangUp: (reason) => void ends.push(reason),
    ...ports
  })
  actor.tell({ _tag: "Started", context: {} })
  const settle = TestClock.adjust(0)
  yield* settle
  const says = (words: string) => {
    actor.tell({ _tag: "CalleeTurn", text: words })
    return settle
  }
  return { actor, said, facts, ends, says }
})

story("given facts that are slow to be written", function* (t) {
  const slow = yield* Deferred.make<void>()
  const written: Array<string> = []
  const write = (fact: ConversationFact) =>
    Effect.andThen(
      Deferred.await(slow),
      Effect.sync(() => void written.push(fact._tag))
    )
  const { actor, said, says } = yield* opened({ write })
  yield* says("please stop calling me")
  t.ok(said.length >= 2, "then the conversation does not wait for them")
  const concluded = yield* Effect.forkChild(actor.conclusion, { startImmediately: true })
  yield* TestClock.adjust("1 minute")
  t.equal(concluded.pollUnsafe(), undefined, "but its conclusion does")
  yield* Deferred.succeed(slow, undefined)
  t.equal((yield* Fiber.join(concluded)).disposition, "user_disqualified")
  t.ok(written.includes("OptedOut"), "and the opt-out is among them")
})

story("given a fact that cannot be written", function* (t) {
  const kept: Array<ConversationFact> = []
  let attempts = 0
  const write = (fact: ConversationFact) => (++attempts === 1 ? Effect.die("no disk") : Effect.sync(() => void kept.push(fact)))
  const { actor, says } = yield* opened({ write })
  yield* says("no")
  t.equal((yield* actor.conclusion).disposition, "user_qualified", "then the conversation comes to its end")
  const areKept = kept.some(({ _tag }) => _tag === "Remembered")
  t.ok(areKept, "and the others are kept")
})

t.test("given a model that", async (t) => {
  const troubled = (answer: Answer) =>
    run(function* () {
      const { actor, ends, facts } = yield* opened({ answer }, planOf(definition()))
      yield* TestClock.adjust("10 minutes")
      const troubles = facts.flatMap((fact) => (fact._tag === "Noted" && fact.note._tag === "ModelTrouble" ? [fact.note.trouble] : []))
      return { ends, disposition: (yield* actor.conclusion).disposition, troubles }
    })
  const polite = { ends: ["pipeline_error"], disposition: "pipeline_error" }
  const failure = new ModelError({ reason: "unreachable", isRetryable: true, message: "away" })
  t.match(await troubled(() => Stream.fail(failure)), { ...polite, troubles: ["failed"] }, "fails, the call ends politely")
  t.match(await troubled(() => Stream.die(new Error("a fault"))), { ...polite, troubles: ["failed"] }, "has a fault")
  t.match(await troubled(broken), { ...polite, troubles: ["failed"] }, "throws, it is not waited for either")
  t.match(await troubled(() => Stream.empty), polite, "ends without a word, too")
  t.match(await troubled(() => Stream.never), polite, "never answers, too")
})

t.test("given a model whose text is not all for the callee, or that extracts nothing, then it is counted", async (t) => {
  const withheld = { calls: 2, tokens: 3 }
  const answer: Answer = (request) =>
    request.purpose === "extract"
      ? Stream.fromIterable([text("I cannot say."), finished])
      : Stream.fromIterable([text("Well."), { _tag: "Finished", why: "stop", usage: noTokens, withheld }])
  const metrics = new ConversationMetrics()
  await run(
    Effect.gen(function* () {
      const start = { greeting: "Hello.", extraction_enabled: true, extraction_variables: [{ name: "seats", type: "number" }] }
      const { actor, says } = yield* opened({ answer }, planOf(definition(start)))
      yield* says("hm")
      actor.tell({ _tag: "CalleeHungUp" })
      yield* actor.conclusion
    }).pipe(Effect.provideService(CurrentConversationMetrics, metrics))
  )
  t.match(metrics, { withheldCalls: 2, withheldTokens: 3, extractionsFailed: 1 })
})

story("given a fault in the conversation itself, then the call is hung up and concluded", function* (t) {
  const { actor, ends, facts } = yield* opened({ speaker: { say: broken, play: broken, stop: broken } })
  t.strictSame(ends, ["pipeline_error"])
  const { disposition, gathered } = yield* actor.conclusion
  t.match([disposition, gathered], ["pipeline_error", { call_disposition: "pipeline_error", nodes_visited: ["start"] }])
  t.match(facts.at(-1), { _tag: "Remembered", gathered }, "which is kept")
})

story("given a completion that is no longer wanted", function* (t) {
  const dropped: Array<string> = []
  const answer: Answer = (request) => {
    const last = request.messages.at(-1)
    const words = last?._tag === "User" ? last.text : "opening"
    if (words !== "wait") return followed(request)
    return Stream.ensuring(
      Stream.never,
      Effect.sync(() => void dropped.push(words))
    )
  }
  const { said, says } = yield* opened({ answer })
  yield* says("wait")
  t.strictSame(dropped, [])
  yield* says("yes")
  t.strictSame(dropped, ["wait"], "then its request is aborted")
  t.equal(said.at(-1), "At ask.", "and the new one is answered")
})

story("given tools", function* (t) {
  const plan = planOf(definition({ greeting: "Hello.", tool_uuids: [toolUuid(1)] }), {}, [
    storedTool(1, "Look up", { type: "http_api", config: { method: "GET", url: "https://crm.example.com/" } })
  ])
  const results: Array<unknown> = []
  const answer: Answer = (request) => {
    const last = request.messages.at(-1)
    if (last?._tag === "ToolResult") results.push(last.result)
    return last?._tag === "User" ? Stream.fromIterable([call("look_up"), finished]) : Stream.fromIterable([text("Well."), finished])
  }
  const outcomes: Array<Effect.Effect<ToolAnswer>> = [
    Effect.succeed({ _tag: "Response", status: 200, body: '{"name":"Ada"}' }),
    Effect.die(new Error("the tool's secret")),
    Effect.never
  ]
  const { said, says } = yield* opened({ answer, runTool: () => outcomes.shift() ?? Effect.never }, plan)
  yield* says("one")
  yield* says("two")
  yield* says("three")
  yield* TestClock.adjust("1 minute")
  t.match(results[0], { status: "success", data: { name: "Ada" } }, "then the model gets the answer")
  t.match(results[1], { status: "error" }, "or is told that there is none")
  t.notMatch(JSON.stringify(results), /secret/, "without the cause")
  t.match(results[2], { status: "error" }, "even if the tool never answers")
  t.ok(said.filter((line) => line === "Well.").length >= 3, "then the agent continues each time")
})
