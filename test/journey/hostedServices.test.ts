/**
 * Conversations of agents that hear, think and speak with hosted services, all of which fail once: the recognizer's connection breaks in the middle of an
 * answer, the voice refuses a sentence, and the model is overloaded. The callees, at an Asterisk and at a carrier, talk over one question. Their words, the
 * path and the variables are those of a call without faults.
 */
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { orderAgent } from "#test/conversations/graph.ts"
import { type Answers, openConversations } from "#test/conversations/openConversations.ts"
import { delivered, think, thinkers } from "#test/conversations/thinkers.ts"
import { InkEmulator } from "#test/emulators/cartesia/InkEmulator.ts"
import { DeepgramEmulator } from "#test/emulators/deepgram/DeepgramEmulator.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { TranscriptionEmulator } from "#test/emulators/openai/TranscriptionEmulator.ts"
import { ScribeEmulator } from "#test/emulators/elevenlabs/ScribeEmulator.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"
import { VoiceEmulator } from "#test/emulators/voices/VoiceEmulator.ts"
import { numbersOf, type Run } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { judgeRecording } from "#test/support/recordedCall.ts"
import { untilTrue } from "#test/support/until.ts"
import { makeMouth } from "#test/support/utterances.ts"

/** Who hears, thinks and speaks. The path follows the voice's address. */
const agents = [
  { ears: new DeepgramEmulator(), hears: ["deepgram", "nova-3-general"], brain: "openai", voice: { provider: "openai" }, path: "/v1" },
  { ears: new DeepgramEmulator(), hears: ["deepgram", "flux-general-en"], brain: "anthropic", voice: { provider: "elevenlabs" }, path: "" },
  { ears: new ScribeEmulator(), hears: ["elevenlabs", ""], brain: "google", voice: { provider: "cartesia", voice: "3faa81ae" }, path: "" },
  { ears: new InkEmulator(), hears: ["cartesia", "ink-whisper"], brain: "openai", voice: { provider: "deepgram" }, path: "" },
  { ears: new InkEmulator(), hears: ["cartesia", "ink-2"], brain: "anthropic", voice: { provider: "openai" }, path: "/v1" },
  { ears: new TranscriptionEmulator(), hears: ["openai", "", "socket"], brain: "google", voice: { provider: "elevenlabs" }, path: "" },
  { ears: new TranscriptionEmulator(), hears: ["openai", "", "http"], brain: "openai", voice: { provider: "deepgram" }, path: "" }
] as const

/** They are called through both by turns. */
const through = ["emulated asterisk", "twilio"] as const
const throughOf = (at: number) => through[at % through.length]

type Ears = (typeof agents)[number]["ears"]
/** What breaks while `brokenAt` is said. Services that are sent whole utterances refuse two requests instead. */
const breakOff = (ears: Ears): void => {
  if (ears instanceof TranscriptionEmulator) ears.resetConnections()
  else ears.closeAll(1011, "upstream")
}

const connectionsOf = ({ connections }: Ears): number => (typeof connections === "number" ? connections : connections.length)

/** What is said when the recognizer's connection breaks, and the question before the sentence that the voice refuses. */
const [brokenAt, refusedAfter] = ["one two three four", /which day/]
/** What is said over the question that follows the answer before it, and what only the whole question has. */
const [over, unheard] = ["please deliver it", /cancel it/]
/** From the end of what a callee says to the agent's voice, whatever fails meanwhile. */
const mostWaitMillis = 3000
const lateness = watchLateness()
const said = delivered.filter(({ edge }) => edge !== undefined).map(({ says }) => says)
const overloaded = json({ error: { message: "overloaded" } }, 503)
const speak = makeMouth()

const eventsOf = ({ logs }: Run, type: string): ReadonlyArray<JsonObject> => {
  const { realtime_feedback_events: events = [] } = (logs ?? {}) as {
    readonly realtime_feedback_events?: ReadonlyArray<{ readonly type: string; readonly payload: JsonObject }>
  }
  return events.flatMap((event) => (event.type === type ? [event.payload] : []))
}

t.test("given agents with hosted services that fail once each, when callees hold a conversation", { timeout: 600_000 }, async (t) => {
  const numbers = numbersOf(agents.length, ["11"])
  const scenes = await Promise.all(
    agents.map(async ({ brain, ears, hears: [provider, model, connection], path, voice: chosen }) => {
      const [, voice] = await Promise.all([ears.listen(), new VoiceEmulator().listen()])
      t.teardown(() => Promise.all([ears.stop(), voice.stop()]))
      if (ears instanceof TranscriptionEmulator && connection === "http") ears.script(overloaded, overloaded)
      let isWhole = !(ears instanceof TranscriptionEmulator) || connection === "socket"
      ears.speech.heard = (text) => {
        if (isWhole && text === brokenAt) setImmediate(() => breakOff(ears))
        isWhole &&= text !== brokenAt
      }
      const utterances = new Map(said.map((text) => [text, ears.speech.marked(speak(text, { voice: "rms" }))]))
      let isSpoken = true
      const answers: Answers = (lines) => {
        const last = lines.at(-1) ?? ""
        if (isSpoken && refusedAfter.test(last)) voice.script(json({}, 503))
        isSpoken &&= !refusedAfter.test(last)
        const says = delivered.find(({ hears }) => last.includes(hears))?.says ?? ""
        const [answer, thenOver] = [utterances.get(says), utterances.get(over)]
        return answer !== undefined && thenOver !== undefined && says === brokenAt ? { ...answer, thenOver } : answer
      }
      const model_overrides = {
        llm: { ...(await thinkers[brain](t, think(delivered), overloaded)) },
        stt: { provider, model, connection, api_key: ears.key, base_url: ears.url },
        tts: { ...chosen, api_key: voice.key, base_url: `${voice.origin}${path}` }
      }
      return { answers, model_overrides }
    })
  )
  const callees = new Map(scenes.map(({ answers }, at) => [numbers[at] ?? "", answers]))
  const { agentWith, letRing, originated, sounds, talkers, world } = await openConversations(
    t,
    { definition: orderAgent, configurations: {}, callees, through },
    { environment: { KEY_TRIALS: "on" } }
  )
  letRing(true)
  const before = agents.map(({ ears }) => connectionsOf(ears))
  const running = Promise.all(
    scenes.map(async ({ model_overrides }, at) => {
      const { call, ended } = await agentWith({ max_user_idle_timeout: 120, model_overrides })
      return ended(await call(numbers[at] ?? "", { first_name: "Ann" }, throughOf(at)))
    })
  )
  const connected = () => agents.map(({ ears }, at) => connectionsOf(ears) - (before[at] ?? 0))
  await untilTrue("connections to the recognizers while the phones ring", () => connected().every((count) => count > 0))
  letRing(false)
  const runs = await running
  const again = connected().filter((_, at) => agents[at]?.hears[2] !== "http")
  t.ok(
    again.every((count) => count === 2),
    `each callee has been heard by that connection, and by the one after it broke: ${again}`
  )
  for (const [at, run] of runs.entries()) {
    const { hears } = agents[at] ?? {}
    const number = numbers[at] ?? ""
    await judgeRecording(t, run.recording_public_url, sounds.get(number) ?? { heard: [], said: [] }, { hears })
    const turns = talkers.get(number)?.turns ?? []
    const waits = turns.map(({ agentFrom = Number.POSITIVE_INFINITY, until = 0 }) => agentFrom - until)
    t.ok(Math.max(...waits) <= lateness.allow(mostWaitMillis), "then the callee is never left in silence", { hears, waits })
    const heard = eventsOf(run, "rtf-user-transcription").map(({ text }) => text)
    t.strictSame(heard, said, `then no word of the callee is lost: ${hears?.join(" ")}`)
    t.strictSame(run.gathered_context?.["extracted_variables"], { customer_number: "1234", delivery_date: "march 3", boxes: 3 })
    t.match(run.gathered_context?.["nodes_visited"], /Delivered with a ring/)
    const questions = eventsOf(run, "rtf-bot-text").filter(({ text }) => /^Shall we/.test(String(text)))
    t.ok(questions.length === 1 && !unheard.test(String(questions[0]?.["text"])), "and the agent fell silent when it was talked over", {
      questions
    })
    const errors = eventsOf(run, "rtf-pipeline-error").map(({ error }) => String(error))
    t.match(errors.toSorted(), [
      /^A line was spoken by another voice: HTTP 503/,
      /^A recognizer failed: /,
      /^The language model failed: HTTP 503/
    ])
    t.notMatch(JSON.stringify(run), /sk-|sk_|dg-0|xi-0/, "without a key")
  }
  t.equal(originated(), agents.length)

  const refusing = await OpenAiEmulator.start({ apiKey: "sk-the-right-one" })
  t.teardown(() => refusing.stop())
  const saved = async (api_key: string) => {
    const llm = { provider: "openai", model: "emulated", api_key, base_url: refusing.url }
    return ((await world.api.ask("PUT", "/user/configurations/user", { llm })).body as { readonly warnings?: unknown }).warnings // the reply to a change
  }
  t.strictSame(await saved("sk-a-wrong-one"), ["llm: openai does not take the key: HTTP 401 invalid_request_error invalid_api_key"])
  t.strictSame(await saved("sk-the-right-one"), [])
})
