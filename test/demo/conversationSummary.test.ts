/** The problems that the demo reports about conversations: none if they are as expected, and each fault by itself. */
import t from "tap"
import type { Run } from "./Api.ts"
import { conversationsThrough, goodbye, whenInterrupted } from "./Appointments.ts"
import type { Held } from "./Conversations.ts"
import { summarizeConversations } from "./ConversationSummary.ts"

const conversationOf = (wanted: string): Held["conversation"] => {
  const found = conversationsThrough("ari").find(({ title }) => title === wanted)
  if (found === undefined) throw new Error(`nobody ${wanted}`)
  return found
}
const tim = conversationOf("interrupts the agent")
const [{ hears: interrupted = "", says = "" } = {}] = tim.answers

const gathered = {
  call_disposition: "user_qualified",
  extracted_variables: { wished_time: "thursday at 2:00 pm", phone: "5550147" },
  nodes_visited: ["Appointment", "Another day", "Number", "To be moved"]
}
const run = (gathered_context: object, more: object = {}) =>
  // Only the members that are read.
  ({
    gathered_context,
    logs: {},
    recording_url: "a.wav",
    transcript_url: "a.txt",
    usage_info: { call_duration_seconds: 30 },
    ...more
  }) as Run

const turn = { text: says, from: 1000, until: 2000, agentFrom: 2600, agentUntil: undefined, agentInPauses: 0 }
const calleeWho = (...understood: ReadonlyArray<string>): Held["callee"] => ({ understood, turns: 1, talker: { turns: [turn] } })

const good: Held = {
  conversation: tim,
  callee: calleeWho("Which day?", goodbye),
  runs: [run(gathered)],
  transcript: `[now] assistant: Hello.\n[now] user: ${says}\n`,
  hasOptedOut: false
}
const problemsOf = (change: Partial<Held>) => summarizeConversations([{ ...good, ...change }]).problems

t.test("given a conversation that is as expected, then there is no problem", async (t) => {
  const { problems, summary } = summarizeConversations([good])
  t.strictSame(problems, [])
  t.match(summary, { rows: [{ isAsExpected: true, seconds: 30, turns: 1 }], answerMillis: { p50: 600, count: 1 } })
  t.strictSame(problemsOf({ callee: calleeWho(whenInterrupted, goodbye) }), [], "the question was asked again")
})

t.test("given a single fault, then it is reported", async (t) => {
  const tells = (change: Partial<Held>, problem: RegExp) => t.match(problemsOf(change), [problem])
  tells({ runs: [] }, /got never called\.$/)
  tells({ runs: [run(gathered), run(gathered)] }, /expected To be moved .*; got .*; To be moved/)
  tells({ runs: [run({ ...gathered, call_disposition: "user_hangup" })] }, /got To be moved \(user_hangup\)/)
  tells({ runs: [run({ ...gathered, nodes_visited: ["Appointment"] })] }, /got Appointment \(user_qualified\)/)
  tells({ runs: [run({ ...gathered, extracted_variables: { phone: "5550147" } })] }, /got To be moved \(user_qualified\), phone 5550147\.$/)
  tells({ runs: [run(gathered, { recording_url: null })] }, /has no recording/)
  tells({ hasOptedOut: true }, /not to be called again/)
  tells({ callee: undefined }, /had no audio/)
  tells({ callee: calleeWho("Which day?") }, /did not hear the agent say "Goodbye\."/)
  tells({ callee: calleeWho(interrupted, whenInterrupted, goodbye) }, /could not interrupt the agent/)
  tells({ transcript: "[now] assistant: Hello.\n" }, /which the transcript does not have/)
  tells({ transcript: `[now] user: ${says}\n` }, /a transcript without the agent/)
})
