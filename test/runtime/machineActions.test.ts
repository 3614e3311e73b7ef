/** What happens to a call that a machine answers, depending on what its agent wants: the actor's part, and the voice's. */
import { Effect } from "effect"
import t from "tap"
import { encode } from "#core/audio/Mulaw.ts"
import type { VoicePlan, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import { answered, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { isNoise, type Loopback, type Opening, type Voices } from "#test/support/voiceScene.ts"
import { brokenTts, voiceIn } from "./callVoice.ts"

const { attached } = await voiceIn(t)

t.test("given a call that is answered", async (t) => {
  const machineEnds = (scene: Scene) =>
    steps(
      Effect.sync(() => scene.hears({ _tag: "EndWanted", cause: "machine_detected" })),
      wait(0)
    )
  const check = async (
    name: string,
    action: string,
    acts: ReadonlyArray<(scene: Scene) => Effect.Effect<unknown>>,
    expected: ReadonlyArray<string>
  ) => {
    const { log } = await play(
      ({ world }) => {
        world.configurations = { voicemail_detection: { enabled: true, action, message: "Call us." } }
      },
      (scene) =>
        steps(
          scene.says(answered),
          Effect.sync(() => scene.world.log.splice(0)),
          ...acts.map((act) => act(scene))
        )
    )
    t.strictSame(log, expected, name)
  }
  const ends = ({ says }: Scene) => says(hungUp("normal_clearing"))
  const told = ({ says }: Scene) => says({ _tag: "Detected", who: "machine" })
  const over = ({ says }: Scene) => says({ _tag: "GreetingEnded" })
  const fax = ({ says }: Scene) => says({ _tag: "Detected", who: "fax" })
  const person = ({ says }: Scene) => steps(says({ _tag: "Detected", who: "human" }), says({ _tag: "Detected", who: "unknown" }))
  const ending = (outcome: string) => ["line free, 0 slots", "finish", `ended ${outcome}`]
  const hungUpOn = ["hangup machine_detected", ...ending("voicemail")]
  await check("a message has been left", "leave_message", [machineEnds, ends], hungUpOn)
  await check("the provider detects it", "leave_message", [told], ["told of a machine"])
  await check("the provider hears its greeting end", "leave_message", [told, over], ["told of a machine", "told that the greeting is over"])
  await check("a fax takes no message", "leave_message", [fax, ends], hungUpOn)
  await check("the provider detects a person", "leave_message", [person, ends], ending("answered"))
  await check("the provider detects it, and the agent goes on", "continue", [told, ends], ["told of a machine", ...ending("answered")])
})

const leaving = { record: false, onMachine: "leave_message" } as const
const said = { greeting: "one two three four five six seven", message: "alpha beta" }

/** The result of a session, and for each of the last frames that the callee was sent, whether something was said in it. */
const spokenTo = async (
  act: (line: Loopback, session: VoiceSession) => Effect.Effect<unknown>,
  {
    opening = {},
    plan = {},
    voices = {}
  }: { readonly opening?: Opening; readonly plan?: Partial<VoicePlan>; readonly voices?: Voices } = {}
) => {
  const how = { opening: { ...said, ...opening }, plan: { ...leaving, ...plan }, voices }
  const { events, kept, line, report } = await attached(how, function* ({ line, session }) {
    yield* act(line, session)
  })
  return { events, kept, report, said: line.sent.map((frame) => !isNoise(frame)) }
}
const turns = Effect.repeat(Effect.yieldNow, { times: 50 })
/** Advances by that many frames, in each of which everything that waits for it gets its turn. */
const talk = (line: Loopback, frames: number, loudness = 0) =>
  Effect.repeat(
    Effect.andThen(
      Effect.sync(() => line.talk(1, loudness)),
      turns
    ),
    { times: frames - 1 }
  )
/** Speech in syllables, for longer than people speak. */
const greets = (line: Loopback) => Effect.repeat(Effect.andThen(talk(line, 12, 9000), talk(line, 3)), { times: 9 })
const silence = (line: Loopback, frames = 155) => talk(line, frames)
const left = [{ _tag: "EndWanted", cause: "machine_detected" }]

t.test("a machine is detected even if the process stalls for most of its greeting", async (t) => {
  const frame = (loudness: number) => encode(Int16Array.from({ length: 160 }, (_, at) => loudness * Math.sin(at * at)))
  const syllables = [12, 3, 12, 3, 12].flatMap((frames, index) => Array.from({ length: frames }, () => frame(index % 2 === 0 ? 9000 : 0)))
  const greets = (line: Loopback) => {
    const stalls = Effect.sync(() => line.stallOver(syllables))
    return Effect.repeat(Effect.andThen(stalls, talk(line, 3)), { times: 5 })
  }
  const { report } = await spokenTo((line) => steps(silence(line, 15), greets(line), silence(line, 40)))
  t.equal(report.gathered.answered_by, "machine")
})

t.test("a machine that never beeps gets the message once it is silent, and nothing before", async (t) => {
  const { events, kept, report, said } = await spokenTo((line) => steps(greets(line), silence(line), talk(line, 40)))
  t.strictSame(events, left)
  t.match(report.gathered, { answered_by: "machine", voicemail_message: "left" })
  t.match(kept.transcript, /assistant: one two[^\n]*\n.*assistant: alpha beta\n$/)
  t.equal(said.lastIndexOf(true) - said.indexOf(true, 200), 9, "two words of five frames")
})

t.test("a greeting that is still being spoken stops when a machine is detected", async (t) => {
  const long = Array.from({ length: 80 }, () => "word").join(" ")
  const { report, said } = await spokenTo((line) => steps(greets(line), silence(line, 100)), { opening: { greeting: long } })
  t.notOk(said.slice(160).includes(true))
  t.match(report.gathered, { voicemail_message: "not_left" })
})

t.test("a machine that hangs up during the message has recorded part of it", async (t) => {
  const check = async (frames: number, fate: string, text: RegExp) => {
    const begun = (line: Loopback) =>
      Effect.repeat(talk(line, 1), { until: () => line.sent.length > 200 && !isNoise(line.sent.at(-1)), times: 500 })
    const { kept, report } = await spokenTo((line) =>
      steps(
        greets(line),
        begun(line),
        talk(line, frames),
        Effect.sync(() => line.end("hung up"))
      )
    )
    t.match(report.gathered, { voicemail_message: fate })
    t.match(kept.transcript, text)
  }
  await check(7, "cut", /assistant: alpha\n$/)
  await check(12, "left", /assistant: alpha beta\n$/)
})

t.test("when there is nothing to say, then it is over at once", async (t) => {
  const check = async (name: string, opening: Opening) => {
    const { events, report } = await spokenTo((line) => steps(greets(line), turns), { opening: { greeting: "", ...opening } })
    t.strictSame(events, left, name)
    t.match(report.gathered, { voicemail_message: "not_left" }, name)
  }
  await check("no message", { message: "" })
  await check("a message of which its variables have left nothing", { message: "{{nothing}} " })
})

t.test("when the message cannot be spoken, then the run says so, and the call ends", async (t) => {
  const { events, kept, report } = await spokenTo((line) => steps(greets(line), silence(line), turns), {
    opening: { greeting: "" },
    voices: { tts: brokenTts }
  })
  t.strictSame(events, left)
  t.match(report.gathered, { voicemail_message: "not_left" })
  t.match(kept.events.at(-1), { payload: { error: "A line could not be spoken: the worker that makes speech has crashed" } })
})

t.test("a machine that the provider detects also gets the message, once", async (t) => {
  const { events, report } = await spokenTo((line, session) =>
    steps(
      Effect.sync(() => {
        session.machineDetected()
        session.machineDetected()
      }),
      silence(line, 200),
      talk(line, 40)
    )
  )
  t.strictSame(events, left)
  t.match(report.gathered, { answered_by: "machine", voicemail_message: "left" })
})

t.test("an agent that continues speaks its whole greeting", async (t) => {
  const { events, kept, report } = await spokenTo((line) => steps(greets(line), silence(line)), { plan: { onMachine: "continue" } })
  t.strictSame(events, [])
  t.strictSame([report.gathered, report.isVoicemail], [{ answered_by: "machine" }, false])
  t.match(kept.transcript, /assistant: one two three four five six seven\n$/)
})
