/** What an answering machine records of a call by a whole engine, for each way in which an agent can be set to treat machines. */
import t from "tap"
import { numbersOf, World, type Run } from "#test/support/engine.ts"
import { fromMulaw } from "#test/emulators/ari/Sound.ts"
import { watchLateness } from "#test/support/lateness.ts"

const greeting =
  "Hello {{first_name}}, this is the clinic at the old market square. Your appointment is on Friday at ten. Please be there in time, and call us if you cannot come."
const message = "Hello {{first_name}}, please call the clinic."

// They mostly listen.
t.jobs = 3

/** When the machine starts to record, in frames: after 0.3 s, 5.2 s of greeting, a pause and half a second of beep. */
const recordsFrom = (0.3 + 5.2 + 0.3 + 0.5) * 50
/** Audio starts some frames after the answer, and a frame more or less may be in flight. */
const slack = 25

const isLoud = (frame: Uint8Array) => frame.some((code) => Math.abs(fromMulaw(code)) > 1500)
/** Which of the frames that a machine was sent, from the answer on, were loud. */
const loudFrames = (heard: Buffer): ReadonlyArray<boolean> =>
  Array.from({ length: Math.floor(heard.length / 160) }, (_, frame) => isLoud(heard.subarray(frame * 160, (frame + 1) * 160)))

const world = await World.open(t, { emulator: { ringMillis: 300, seed: 3 }, greeting })
const [ended, messaged, continued] = numbersOf(3, ["04"])

/** Calls a machine as an agent with these settings. */
const callOne = async (number = "", detection: object = {}, maxRetries = 0) => {
  const configurations = { max_call_duration: 14, voicemail_detection: { enabled: true, ...detection } }
  const agent = await world.api.createAgent(greeting, configurations)
  const { id } = await world.campaign([number], { retry: { maxRetries, retryDelaySeconds: 1 }, workflow_id: agent.id })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  const [run] = await world.api.runs(id)
  const entries = world.emulator.log.of(number)
  const ended = entries.find(({ kind }) => kind === "ended")
  const loud = loudFrames(world.emulator.log.heard(entries[0]?.channelId ?? ""))
  const calls = entries.filter(({ kind }) => kind === "originate").length
  return { calls, ended, loud, millis: (ended?.at ?? 0) - (entries.find(({ kind }) => kind === "answered")?.at ?? 0), run }
}
const gathered = (run: Run | undefined) => run?.gathered_context ?? {}

t.test("given an agent without settings for machines, when one answers, then its greeting is cut short", { buffered: true }, async (t) => {
  const lateness = watchLateness()
  const { calls, ended: end, millis, run } = await callOne(ended)
  t.match(end, { by: "us" })
  t.ok(millis < lateness.allow(5500), `after ${Math.round(millis)} ms`)
  t.equal(calls, 1)
  t.match(gathered(run), { answered_by: "machine", call_disposition: "voicemail_detected", hangup_cause: "machine_detected" })
  t.notOk("voicemail_message" in gathered(run))
})

t.test("given an agent that leaves a message, when a machine answers, then it records that alone", { buffered: true }, async (t) => {
  const lateness = watchLateness()
  const { calls, ended, loud, millis, run } = await callOne(messaged, { action: "leave_message", message }, 2)
  // The greeting, which stops when the machine is detected, is followed by silence. On a busy machine, the greeting itself may have pauses as
  // long.
  const from = loud.findLastIndex((isLoud, frame) => isLoud && frame > 2 * 50 && !loud.slice(frame - 40, frame).includes(true))
  const until = loud.lastIndexOf(true)
  t.match(ended, { by: "us" })
  t.equal(calls, 1)
  // What the machine's process was too late to hear is missing in between.
  t.ok(from >= recordsFrom - slack - lateness.worst() / 20, `it begins after ${from * 20} ms`)
  t.ok(until - from > 50, `it lasts ${(until - from) * 20} ms`)
  t.ok(millis > until * 20, "and it is not cut")
  t.match(gathered(run), {
    answered_by: "machine",
    call_disposition: "voicemail_detected",
    hangup_cause: "machine_detected",
    voicemail_message: "left"
  })
  const [contact] = await world.sql`SELECT state, last_outcome FROM contacts WHERE phone_number = ${messaged ?? ""}`
  t.strictSame({ ...contact }, { state: "completed", last_outcome: "voicemail" }, "nobody calls again to leave another one")
})

t.test("given an agent that continues, when a machine answers, then it hears all and is in the run", { buffered: true }, async (t) => {
  const { loud, millis, run } = await callOne(continued, { action: "continue" })
  t.ok(loud.lastIndexOf(true) > 6 * 50, `the greeting lasts until ${loud.lastIndexOf(true) * 20} ms`)
  t.ok(millis > 12_000, `it lasts ${Math.round(millis)} ms`)
  t.match(gathered(run), { answered_by: "machine", call_disposition: "call_duration_exceeded" })
  t.notOk("voicemail_message" in gathered(run))
})
