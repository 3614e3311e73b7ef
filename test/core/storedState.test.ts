/** Conversations that are stored and continue from there, whatever has happened before. */
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import t from "tap"
import { step } from "#core/agent/conversation/Conversation.ts"
import { type ConversationEvent, type ConversationState, fresh } from "#core/agent/conversation/ConversationState.ts"
import { atRest, restored, stored } from "#core/agent/conversation/StoredState.ts"
import { endedAtOnce } from "#core/chat/chatPlan.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { call, finished, planOf, started, storedTool, talkStart, text, toolUuid } from "#test/support/talk.ts"
import { edge, follower, node } from "#test/support/talkScript.ts"

const extracting = {
  extraction_enabled: true,
  extraction_variables: [
    { name: "count", type: "number" },
    { name: "callback_time", type: "string" }
  ]
}
const plan = planOf(
  {
    nodes: [
      node("start", "startCall", { greeting: "Hi {{name}}.", tool_uuids: [toolUuid(1), toolUuid(2)], ...extracting }),
      node("firm", "agentNode", { allow_interrupt: false, ...extracting }),
      node("end", "endCall")
    ],
    edges: [edge("start", "firm", "on", { transition_speech: "One." }), edge("firm", "start", "back"), edge("firm", "end", "done")]
  },
  { send_dtmf: true },
  [
    storedTool(1, "Ask", { type: "http_api", config: { method: "POST", url: "https://a.example/", customMessage: "Wait." } }),
    storedTool(2, "Sums", { type: "calculator" })
  ]
)
const context = { name: "Ada", list: [1, { a: null }], odd: "é😀\u0007" }

const tools = ["on", "back", "done", "ask", "safe_calculator", "send_dtmf", "save_variables", "opt_out", "none"]
const events: fc.Arbitrary<(state: ConversationState) => ConversationEvent> = fc
  .record({ kind: fc.nat(11), pick: fc.nat(100), words: fc.string({ unit: "grapheme", maxLength: 20 }) })
  .map(({ kind, pick, words }) => (state): ConversationEvent => {
    const generation = [state.answer?.generation, ...state.extractions.map((one) => one.generation)][pick % 2] ?? pick
    const line = state.lines[0]?.id ?? pick
    const name = tools[pick % tools.length] ?? "none"
    const given = { expression: words, digits: "1#", count: pick % 3 === 0 ? words : pick, callback_time: "tomorrow at 3" }
    const possible: ReadonlyArray<ConversationEvent> = [
      { _tag: "CalleeTurn", text: words },
      { _tag: "CalleeTurn", text: "yes" },
      { _tag: "CalleeStarted" },
      { _tag: "KeyPressed", digit: "1" },
      { _tag: "ModelSaid", generation, part: text(words === "" ? "Well." : words) },
      { _tag: "ModelSaid", generation, part: call(name, given) },
      { _tag: "ModelSaid", generation, part: finished },
      { _tag: "ModelFailed", generation, isRetryable: pick % 2 === 0 },
      { _tag: "LineSpoken", line },
      { _tag: "LineInterrupted", line, heard: words },
      { _tag: "ToolAnswered", callId: state.batch?.calls[0]?.call.id ?? "", answer: { _tag: "Response", status: 200, body: "{}" } },
      { _tag: "TimerFired", id: Object.values(state.timers)[pick % 3]?.id ?? pick }
    ]
    return possible[kind] ?? { _tag: "CalleeStarted" }
  })

/** The state as it comes back from the database. */
const again = (state: ConversationState): ConversationState => {
  const back = restored(plan, state.context, JSON.parse(JSON.stringify(stored(state))))
  if (back === undefined) throw new Error("It is not restored")
  return back
}
/** Treats undefined members like missing ones. */
const same = (a: unknown, b: unknown) => isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))

t.test("given any conversation, then it continues from storage at any moment as if it had never been stored", async () => {
  forAllOf({ numRuns: 500 }, fc.array(events, { minLength: 10, maxLength: 80, size: "max" }), (story) => {
    let state = step(plan, fresh(plan), { _tag: "Started", context }, talkStart).state
    return story.every((next) => {
      const event = next(state)
      const kept = step(plan, again(state), event, talkStart)
      const moved = step(plan, state, event, talkStart)
      state = moved.state
      return same(kept, moved)
    })
  })
})

t.test("given a conversation between two messages, then it sets its timers again, and says and asks the same", async (t) => {
  const talk = started(plan, { model: follower, context })
  talk.says("hm")
  const known = talk.state()
  const rested = again(atRest(known))
  t.strictSame(rested.timers, {})
  const silent = (state: ConversationState) =>
    step(plan, state, { _tag: "CalleeTurn", text: "yes" }, talkStart).actions.filter(({ _tag }) => !_tag.endsWith("Timer"))
  t.ok(silent(rested).length > 0)
  // The numbers of generations differ by those of the timers.
  const shape = (state: ConversationState) => silent(state).map((action) => ({ ...action, generation: 0 }))
  t.strictSame(shape(rested), shape(known))
})

t.test("given a state of another version of the engine, then it does not continue, and what is missing is initial", async (t) => {
  const { state, version } = stored(fresh(plan))
  t.equal(restored(plan, {}, { version: version + 1, state }), undefined)
  const { misunderstood: _, ...older } = state
  t.equal(restored(plan, {}, { version, state: older })?.misunderstood, 0)
})

t.test("given any moment, when it is ended at once, then it is over, without the model", async () => {
  forAllOf({ numRuns: 300 }, fc.array(events, { maxLength: 40, size: "max" }), (story) => {
    let state = step(plan, fresh(plan), { _tag: "Started", context }, talkStart).state
    for (const next of story) state = step(plan, state, next(state), talkStart).state
    return endedAtOnce(plan, state, { _tag: "CalleeHungUp" }, talkStart).phase === "over"
  })
})
