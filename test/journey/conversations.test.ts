/**
 * Whole conversations: an engine with only built-in services and PocketSphinx, and callees who really speak, and answer what they hear. What
 * the callees heard, and when, is judged on their side.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { JsonObject } from "#core/Json.ts"
import { type Answers, hangsUp, openConversations } from "#test/conversations/openConversations.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { numbersOf, type Run } from "#test/support/engine.ts"
import { parse } from "#test/support/prometheus.ts"
import { pocketsphinxRoot, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { makeMouth } from "#test/support/utterances.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
const speak = makeMouth()
const context = { first_name: "Ada", company: "Acme", appointment_date: "Monday", appointment_time: "ten o'clock" }

interface Story {
  /** The callee's answers to lines of the agent. */
  readonly answers: ReadonlyArray<readonly [line: RegExp, answer: string]>
  readonly disposition: string
  /** The node where the conversation must end. */
  readonly at: string
}
const identity = /speaking with/
const appointment = /still suit/
const stories: ReadonlyArray<Story> = [
  {
    answers: [
      [appointment, "cancel the appointment"],
      [identity, "yes this is she"],
      [/confirm: Cancel/, "yes"],
      [/Is that right/, "no"]
    ],
    disposition: "user_qualified",
    at: "Cancelled"
  },
  {
    answers: [
      [appointment, hangsUp],
      [identity, "yes speaking"]
    ],
    disposition: "user_hangup",
    at: "Remind"
  }
]

/** Answers the latest line that has an answer: the agent may have added something to its question. */
const answering =
  ({ answers }: Story): Answers =>
  (lines) => {
    const [text] = lines.toReversed().flatMap((line) => answers.flatMap(([asked, answer]) => (asked.test(line) ? [answer] : [])))
    return text === undefined || text === hangsUp ? text : speak(text, { voice: "rms" })
  }

const counted = { count: Number, p50: Number, p95: Number }
const waitedFor = {
  conversation: {
    latency_seconds: { recognition: counted, end_of_turn: counted, first_token: counted, synthesis: counted, first_audio: counted }
  }
}
const servicesIn = ({ usage_info: usage }: Run) => [usage?.tts, usage?.stt].flatMap((used) => Object.keys(used ?? {}))
/** A voice that costs a dollar per thousand characters. */
const priceFile = (t: Test): string => {
  const path = join(temporaryFolder(t), "prices.json")
  writeFileSync(path, JSON.stringify({ prices: [{ kind: "tts", provider: "flite", model: "slt", per_million_characters: 1000 }] }))
  return path
}
const saidIn = ({ logs }: Run): ReadonlyArray<string> => {
  const { realtime_feedback_events: events = [] } = (logs ?? {}) as {
    readonly realtime_feedback_events?: ReadonlyArray<{ readonly payload: JsonObject }>
  }
  return events.flatMap(({ payload: { text } }) => (typeof text === "string" ? [text] : []))
}

t.test("given callees who speak, when an agent that hears reminds them, then each call ends as it should", { skip }, async (t) => {
  const numbers = numbersOf(stories.length, ["11"])
  const setting = {
    definition: agentTemplates.find(({ name }) => name === "Appointment reminder")?.definition,
    // On a busy machine, a recognizer may need longer for an answer than a callee may normally be silent.
    configurations: { max_user_idle_timeout: 60 },
    callees: new Map(stories.map((story, at) => [numbers[at] ?? "", answering(story)]))
  }
  const { call, ended, originated, talkers, world } = await openConversations(t, setting, {
    environment: { POCKETSPHINX_DIR: pocketsphinxRoot, PRICES_FILE: priceFile(t) }
  })
  // One after another, so that a busy machine has to recognize the speech of only one call.
  for (const [at, { at: last, disposition }] of stories.entries()) {
    const number = numbers[at] ?? ""
    const run = await ended(await call(number, context))
    const talker = talkers.get(number)
    const told = { callee: talker?.turns, agent: talker?.agent, transcript: saidIn(run) }
    t.match(run.gathered_context, { call_disposition: disposition, nodes_visited: new RegExp(`${last}$`) }, last, told)
    const turns = talker?.turns ?? []
    t.ok(turns.length > 0 && turns.slice(0, -1).every(({ agentFrom }) => agentFrom !== undefined), "then the agent answered each turn")
    t.ok(saidIn(run).length >= 2, "then the transcript has both sides")
    t.match(run, { annotations: waitedFor }, "then the run has the times that they waited")
    t.match(servicesIn(run), [/^flite#/, /^pocketsphinx#/], "and what was used for it")
    const spoken = Number(run.usage_info?.tts?.["flite#0|||slt"])
    t.match(
      run.cost_info,
      { total_cost_usd: spoken / 1000, is_complete: true },
      "and what that cost, with the installation's price of the voice"
    )
  }
  t.equal(originated(), numbers.length)
  const { values } = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
  const isCounted = (beginning: string) => [...values].some(([name, value]) => name.startsWith(beginning) && value > 0)
  for (const stage of Object.keys(waitedFor.conversation.latency_seconds))
    t.ok(isCounted(`conversation_latency_seconds_count{stage="${stage}",provider="`), `then the metrics have ${stage}`)
})
