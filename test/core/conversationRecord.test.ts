/** What is kept of a conversation, and what of it is stored with its call. */
import t from "tap"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { CallId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { type CallFact, type ConversationEntry, type LatencyStage, latencyStages } from "#core/conversation/ConversationEntry.ts"
import { ConversationRecord } from "#core/conversation/ConversationRecord.ts"
import { conversationReport } from "#core/conversation/conversationReport.ts"
import { withConversation, withoutContent } from "#runtime/call/withConversation.ts"
import { canaries, conversationSoFar } from "#test/support/conversationScene.ts"

const entriesOf = (facts: ReadonlyArray<CallFact>, keepsTranscript = true): ReadonlyArray<ConversationEntry> => {
  const record = new ConversationRecord({ keepsTranscript, timeZone: "America/New_York" })
  return facts.flatMap((fact) => record.take(fact))
}
const reportOf = (facts: ReadonlyArray<CallFact>, keepsTranscript = true) => conversationReport(entriesOf(facts, keepsTranscript))

t.test("given a conversation, when its report is made, then it contains everything in the order of the call", async (t) => {
  const { annotations, events, gathered, transcript, usage } = reportOf(conversationSoFar(true))
  const shown = events.map(({ node_id, turn, type }) => [type, turn, node_id])
  t.strictSame(shown, [
    ["rtf-node-transition", 0, "start"],
    ["rtf-bot-text", 0, "start"],
    ["rtf-user-transcription", 1, "start"],
    ["rtf-stage-metric", 0, "start"],
    ["rtf-function-call-start", 1, "start"],
    ["rtf-function-call-end", 1, "start"],
    ["rtf-latency-measured", 1, "start"],
    ["rtf-node-transition", 1, "ask"],
    ["rtf-user-transcription", 2, "ask"]
  ])
  t.match(events[7]?.payload, { node_id: "ask", previous_node_id: "start", allow_interrupt: true })
  t.equal(
    transcript,
    "[2026-03-05T15:00:00.100Z] assistant: Hello zebrawood.\n[2026-03-05T15:00:01.000Z] user: I like quicksilver\n" +
      "[2026-03-05T15:00:03.000Z] user: pressed 7\n"
  )
  t.strictSame(gathered, {
    mood: "merry",
    extracted_variables: { mood: "merry" },
    nodes_visited: ["start"],
    call_disposition: "user_disqualified",
    mapped_call_disposition: "user_disqualified",
    call_tags: ["user_speech", "user_disqualified", "opted_out"],
    dtmf_digits: "7",
    callback_at: "2026-03-06T10:00:00-05:00",
    callback_time_zone: "America/New_York"
  })
  const tokens = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, cache_read_input_tokens: 2 }
  t.strictSame(usage, { llm: { "embedded#0|||rules": tokens }, tts: { "flite#0|||slt": 30 }, stt: { "scripted#0|||words": 1.5 } })
  t.strictSame(annotations, {
    conversation: {
      turns: 2,
      latency_seconds: {
        recognition: { count: 1, p50: 0.08, p95: 0.08, max: 0.08 },
        first_audio: { count: 1, p50: 0.24, p95: 0.24, max: 0.24 }
      }
    }
  })
})

t.test("given a greeting by a clock that was read a little earlier, when its report is made, then it follows its node", async (t) => {
  const [entered, ...later] = conversationSoFar(true)
  if (entered?._tag !== "Noted") throw new Error("the scene begins with a node")
  const greeting: CallFact = { _tag: "Said", speaker: "assistant", text: "Hello.", at: entered.at - 0.4, until: entered.at + 900 }
  const report = reportOf([entered, greeting, ...later])
  t.strictSame(
    report.events.slice(0, 2).map(({ type }) => type),
    ["rtf-node-transition", "rtf-bot-text"]
  )
  t.match(report.transcript, /^\[2026-03-05T15:00:00\.000Z\] assistant: Hello\./)
})

t.test("given an organization without transcripts, when it is kept, then it has what was found out, but nothing said", async (t) => {
  const entries = JSON.stringify(entriesOf(conversationSoFar(true), false))
  const found = canaries.filter((word) => entries.includes(word))
  t.strictSame(found, [])
  const { events, gathered, transcript } = reportOf(conversationSoFar(false), false)
  t.equal(transcript, "")
  t.notOk(events.some(({ type }) => type === "rtf-user-transcription" || type === "rtf-bot-text"))
  t.match(gathered, { mood: "merry", dtmf_digits: "7" })
  t.match(events.at(-1), { turn: 1, payload: { node_id: "ask" } })
})

t.test("given a conversation that goes round in circles, when it is kept, then there is a limit", async (t) => {
  const said: CallFact = { _tag: "Said", speaker: "user", text: "again", at: 0, until: 0 }
  t.equal(entriesOf(Array.from({ length: 5000 }, () => said)).length, 4000)
})

const callId = CallId.make("01890000-0000-7000-8000-000000000001")
const endOf = (outcome: AttemptEnd["outcome"], disposition: string, more: JsonObject = {}): AttemptEnd => ({
  answeredAt: 0,
  cause: "normal_clearing",
  endedAt: 1000,
  outcome,
  record: {
    gatheredContext: {
      ...more,
      call_disposition: disposition,
      call_id: callId,
      call_tags: [disposition],
      dtmf_digits: "7",
      mapped_call_disposition: disposition
    },
    logs: {
      realtime_feedback_events: [
        { type: "rtf-pipeline-error", payload: { error: "outside" }, timestamp: "2026-03-05T15:00:00.050Z", turn: 0 },
        { type: "rtf-ttfb-metric", payload: { ttfb_seconds: 0.1 }, timestamp: "2026-03-05T15:00:00.100Z", turn: 0 }
      ]
    },
    recordingKey: undefined,
    transcriptKey: undefined,
    usageInfo: { call_duration_seconds: 1, llm: {}, stt: {}, tts: {} }
  }
})

t.test(
  "given what a callee waits for, then only the language model's share is called so, as clients of the existing product expect",
  async (t) => {
    const waited = (stage: LatencyStage): CallFact => ({ _tag: "Waited", stage, millis: 80, at: 0, processor: "p", model: "m" })
    const greeted: CallFact = { _tag: "Greeted", millis: 80, at: 0, processor: "p", model: "m" }
    const { events } = reportOf([greeted, ...latencyStages.map(waited)])
    t.strictSame(
      events.map(({ payload, type }) => [type, payload["stage"]]),
      [
        ["rtf-stage-metric", undefined],
        ["rtf-stage-metric", "recognition"],
        ["rtf-stage-metric", "end_of_turn"],
        ["rtf-ttfb-metric", "first_token"],
        ["rtf-stage-metric", "synthesis"],
        ["rtf-latency-measured", undefined]
      ]
    )
  }
)

t.test("given the end of a call and its conversation", async (t) => {
  const merged = (end: AttemptEnd, gathered: JsonObject) => {
    const report = { ...reportOf(conversationSoFar(false)), gathered, transcriptKey: "transcripts/1.txt" }
    return withConversation(end, report).record
  }
  const check = (title: string, end: AttemptEnd, gathered: JsonObject, disposition: string, tags: ReadonlyArray<string>) => {
    const { call_disposition, call_tags, mapped_call_disposition } = merged(end, gathered).gatheredContext
    t.strictSame([call_disposition, mapped_call_disposition, call_tags], [disposition, disposition, tags], title)
  }
  const qualified = { call_disposition: "user_qualified", call_tags: ["user_qualified", "user_speech"] }
  const hungUp = { call_disposition: "user_hangup", call_tags: ["user_hangup", "user_speech"] }
  check("a conclusion wins over the way the line ended", endOf("answered", "end_call_tool"), qualified, "user_qualified", [
    "user_qualified",
    "user_speech"
  ])
  check("a conclusion wins over a process that died", endOf("error", "error"), qualified, "user_qualified", [
    "user_qualified",
    "user_speech"
  ])
  check("a line that broke was not hung up by the callee", endOf("error", "error"), hungUp, "error", ["error", "user_speech"])
  check("a machine does not hang up", endOf("voicemail", "voicemail_detected"), hungUp, "voicemail_detected", [
    "voicemail_detected",
    "user_speech"
  ])
  check("without a conclusion, the line decides", endOf("answered", "user_hangup"), {}, "user_hangup", ["user_hangup"])

  const { annotations, gatheredContext, logs, transcriptKey, usageInfo } = merged(endOf("answered", "user_hangup"), {
    ...hungUp,
    call_id: "mine",
    answered_by: "machine",
    mood: "merry"
  })
  t.match(
    gatheredContext,
    { call_id: callId, answered_by: "machine", mood: "merry" },
    "variables take the place of no finding of the engine"
  )
  t.match(merged(endOf("answered", "user_hangup", { answered_by: "human" }), { answered_by: "machine" }).gatheredContext, {
    answered_by: "human"
  })
  t.equal(transcriptKey, "transcripts/1.txt")
  t.match(annotations, { conversation: { turns: 2 } })
  t.match(usageInfo, { call_duration_seconds: 1, tts: { "flite#0|||slt": 30 } })
  const payloads = logs.realtime_feedback_events?.slice(0, 4).map(({ payload }) => payload)
  t.match(
    payloads,
    [{ node_id: "start" }, { error: "outside" }, { ttfb_seconds: 0.1 }, { text: "Hello zebrawood." }],
    "what the line tells is in its place"
  )
  t.notMatch(
    JSON.stringify(withoutContent(endOf("answered", "user_hangup"))),
    /outside|dtmf/,
    "the journal has nothing that was said or keyed"
  )
})
