/** A call that holds a conversation, with a manual frame pacer: what the callee hears, and what the conversation is told about it. */
import { Effect, Layer, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { notUnderstood, type RecognizerEvent, type SpeechToText } from "#core/model/SpeechToText.ts"
import { Files } from "#runtime/storage/Files.ts"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import type { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { keyTone } from "#test/support/sound.ts"
import { call, planOf, type ScriptedModel, storedTool, text, toolUuid } from "#test/support/talk.ts"
import { type TalkScene, talking, toldTo } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { callingWith, isNoise, type Loopback, loopback, type Voices } from "#test/support/voiceScene.ts"

const folder = await mkdtemp(join(tmpdir(), "talk-"))
t.teardown(() => rm(folder, { recursive: true }))
const calling = callingWith(Files.layerLocal(folder))

/** Plays a scene on a carrier with a delay of 40 ms. */
const play = <A>(use: (line: Loopback) => Effect.Effect<A, unknown, VoiceAgent | Scope.Scope>, voices: Voices = {}) => {
  const line = loopback(2)
  return calling(line, use(line), voices)
}

const lastWords = ({ messages }: { readonly messages: ReadonlyArray<{ readonly _tag: string; readonly text?: string }> }) =>
  messages.findLast(({ _tag }) => _tag === "User")?.text ?? ""
const isAnswered = ({ messages }: Parameters<ScriptedModel>[0]) => messages.at(-1)?._tag !== "User"

/** Follows the edge for a yes or a no, and at `ask` the only edge that is left. */
const model: ScriptedModel = (request) => {
  const { node, purpose } = request
  if (purpose === "extract") return [call("save_variables", { wish: lastWords(request) })]
  if (purpose !== "turn") return [text(`${purpose} said.`)]
  if (node.type === "endCall") return [text("Thank you for your time and goodbye.")]
  if (isAnswered(request)) return [text(`This is ${node.id} and it has something to ask of you today.`)]
  const words = lastWords(request)
  if (words === notUnderstood) return [text("Could you say that again?")]
  if (node.id === "start") return [call(/^yes/i.test(words) ? "yes" : "no")]
  return /^(yes|1)/i.test(words) ? [call("done")] : [text(`You said ${words}`)]
}
const extracting = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string" }] }
const greeting = "Good morning to you and to everybody in your house."
const plan = (start: JsonObject = {}, configurations: JsonObject = {}) =>
  planOf(definition({ greeting, ...start, ...extracting }), { max_user_idle_timeout: 600, ...configurations })

const loud = ({ line }: TalkScene) => line.heard.map((frame) => !isNoise(frame))
const ended = ({ events }: TalkScene) => events.some(({ _tag }) => _tag === "EndWanted")
const hasHeard = (scene: TalkScene, frames: number) => () => loud(scene).filter(Boolean).length >= frames
/** The tone of the test's voice lasts 100 ms for each word. */
const framesOf = (...lines: ReadonlyArray<string>) => lines.join(" ").split(" ").length * 5

t.test("given a callee who answers, then the conversation proceeds, and hangs up once its last word has been heard", async (t) => {
  const { report, scene } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan(), script: model })
      yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
      yield* scene.silence(300)
      yield* scene.says("Yes, I would like that.")
      yield* scene.until("second line", hasHeard(scene, framesOf(greeting, "This is ask and it has something to ask of you today.")))
      yield* scene.silence(300)
      yield* scene.hears(keyTone("1", 120))
      yield* scene.silence(60)
      // The carrier reports the same key, late.
      scene.session.dtmf("1", 0)
      yield* scene.until("end", () => ended(scene))
      return { scene, report: yield* scene.session.finish }
    })
  )
  const said = [greeting, "This is ask and it has something to ask of you today.", "Thank you for your time and goodbye."]
  t.equal(loud(scene).filter(Boolean).length, framesOf(...said), "all of it was heard, and nothing twice")
  t.match(scene.events.at(-1), { _tag: "EndWanted", cause: "agent_hangup" })
  const { gathered, transcript } = scene.kept()
  t.match(gathered, { call_disposition: "user_qualified", call_tags: ["user_qualified", "user_speech"] })
  t.match(gathered, { wish: "Yes, I would like that.", nodes_visited: ["start", "ask", "bye"], dtmf_digits: "1" })
  t.strictSame(
    [report.isVoicemail, report.gathered, report.transcriptText, report.transcriptKey],
    [false, { dtmf_digits: "1" }, "", undefined],
    "the conversation's own words are kept in one place"
  )
  t.strictSame(
    transcript
      .trim()
      .split("\n")
      .map((line) => line.replace(/^\[.*?\] /, "")),
    [`assistant: ${said[0]}`, "user: Yes, I would like that.", `assistant: ${said[1]}`, "user: pressed 1", `assistant: ${said[2]}`]
  )
  const characters = said.reduce((sum, { length }) => sum + length, 0)
  t.match(report.usage, { tts: { "tone#0|||none": characters } })
  t.strictSame(
    scene.recognizer.hints.map(({ phrases }) => phrases[0]),
    ["start", "start", "ask", "bye"],
    "the recognizer knows the nodes"
  )
})

const longLine = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
/** Answers everything with a long line, so that it can be interrupted. */
const talkative: ScriptedModel = ({ purpose }) => (purpose === "extract" ? [call("save_variables", {})] : [text(longLine)])

t.test("given a callee who interrupts, then the agent is silent at once, and only what was heard stays in the history", async (t) => {
  const { scene, silentAfter } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: longLine }), script: talkative })
      yield* scene.until("first words", hasHeard(scene, 20))
      const from = scene.line.heard.length
      yield* scene.says("Wait a minute, please.")
      const silentAfter = loud(scene).slice(from).indexOf(false) * 20
      yield* scene.until("answer", () => scene.requests.length > 0)
      return { scene, silentAfter }
    })
  )
  t.ok(silentAfter >= 60 && silentAfter <= 160, `after ${silentAfter} ms`)
  const [heard, answered] = toldTo(scene.requests[0])
  t.equal(answered, "callee: Wait a minute, please.")
  const words = heard?.replace("agent: ", "").split(" ") ?? []
  t.ok(longLine.startsWith(words.join(" ")) && words.length >= 3 && words.length <= 6, String(heard))
})

t.test("given a cough and assent, then the agent continues, and nothing is answered", async (t) => {
  const scene = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: longLine }), script: talkative })
      yield* scene.until("first words", hasHeard(scene, 15))
      yield* scene.says("Uh huh.")
      yield* scene.until("the whole line", hasHeard(scene, framesOf(longLine)))
      yield* scene.silence(3000)
      return scene
    })
  )
  t.equal(loud(scene).filter(Boolean).length, framesOf(longLine))
  t.strictSame(scene.requests, [])
})

t.test("given a line that must be heard, when the callee talks over it, then it is heard, and they are answered afterwards", async (t) => {
  const scene = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: longLine, allow_interrupt: false }), script: talkative })
      yield* scene.until("first words", hasHeard(scene, 15))
      yield* scene.says("Wait a minute, please.")
      yield* scene.until("the whole line", hasHeard(scene, framesOf(longLine)))
      yield* scene.silence(1000)
      const asked = scene.requests.length
      scene.recognizer.forget()
      yield* scene.says("No, thank you.")
      yield* scene.until("answer", () => scene.requests.length > 0)
      t.equal(asked, 0)
      return scene
    })
  )
  t.strictSame(toldTo(scene.requests[0]), [`agent: ${longLine}`, "callee: No, thank you."])
})

t.test("given a callee who hangs up during a line, then the line ends there, and the conversation is concluded once", async (t) => {
  const { kept, reports } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: longLine }), script: talkative })
      yield* scene.until("first words", hasHeard(scene, 25))
      scene.line.end("hung up", "ended")
      scene.session.hungUp?.("normal_clearing")
      const reports = yield* Effect.all([scene.session.finish, scene.session.finish], { concurrency: 2 })
      yield* scene.silence(1000)
      t.notOk(ended(scene), "nobody is left to hang up on")
      return { kept: scene.kept(), reports }
    })
  )
  const [report, again] = reports
  t.equal(report, again)
  t.match(kept.gathered, { call_disposition: "user_hangup" })
  t.match(kept.transcript, /assistant: one two three four five( six)?\n$/)
})

t.test("given a call that ends by itself, then the conversation says why", async (t) => {
  const endedBy = (cause: "duration_exceeded" | "originator_cancel" | "machine_detected") =>
    play((line) =>
      Effect.gen(function* () {
        const scene = yield* talking(line, { plan: plan(), script: model })
        yield* scene.silence(500)
        scene.session.hungUp?.(cause)
        yield* scene.session.finish
        return scene.kept().gathered["call_disposition"]
      })
    )
  t.equal(await endedBy("duration_exceeded"), "call_duration_exceeded")
  t.equal(await endedBy("originator_cancel"), "system_cancelled")
  t.equal(await endedBy("machine_detected"), "voicemail_detected")
})

/** Each session except the last one fails, at its first `finalize` or before it is open. */
const failing =
  (...ends: ReadonlyArray<"opens not" | "dies" | "throws" | "is silent">) =>
  (recognizer: SpeechToText): SpeechToText => {
    let sessions = 0
    const broken = new ModelError({ reason: "broken", isRetryable: true, message: "gone" })
    return {
      ...recognizer,
      open: Effect.fnUntraced(function* (hints, emit) {
        const end = ends[sessions++]
        if (end === undefined) return yield* recognizer.open(hints, emit)
        if (end === "opens not") return yield* broken
        return {
          write: () => {},
          hint: () => {},
          finalize: () => {
            if (end === "throws") throw new Error("a fault")
            if (end === "dies") emit({ _tag: "Failed", error: broken } satisfies RecognizerEvent)
          }
        }
      })
    }
  }

t.test("given a recognizer that fails, then at most one turn is lost, which the callee is asked to repeat", async (t) => {
  for (const end of ["opens not", "dies", "throws", "is silent"] as const) {
    const { answers, scene } = await play((line) =>
      Effect.gen(function* () {
        const scene = yield* talking(line, { plan: plan(), script: model, hearing: failing(end) })
        yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
        yield* scene.silence(300)
        yield* scene.says("Yes, I would like that.")
        yield* scene.silence(6000)
        const answers = toldTo(scene.requests.at(-1))
        if (end === "is silent") return { answers, scene }
        yield* scene.says("Yes, I would like that.")
        yield* scene.until("second node", () => scene.requests.some(({ node }) => node.id === "ask"))
        return { answers, scene }
      })
    )
    t.ok(answers.includes(end === "opens not" ? "callee: Yes, I would like that." : `callee: ${notUnderstood}`), end)
    t.notOk(ended(scene), end)
  }
})

t.test("given a recognizer that cannot be used at all, then the callee is asked whether they are there, and the call ends", async (t) => {
  const refused = new ModelError({ reason: "auth", isRetryable: false, message: "no" })
  const kept = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, {
        plan: plan({}, { max_user_idle_timeout: 1 }),
        script: model,
        hearing: (recognizer) => ({ ...recognizer, open: () => Effect.fail(refused) })
      })
      yield* scene.paced(() => ended(scene))
      yield* scene.session.finish
      return scene.kept()
    })
  )
  t.match(kept.gathered, { call_disposition: "user_idle_max_duration_exceeded" })
  t.match(kept.transcript, /assistant: check_in said.*\n.*assistant: farewell said/)
})

t.test("given a model that cannot be opened, then the agent apologizes, and hangs up once that has been heard", async (t) => {
  const refused = new ModelError({ reason: "auth", isRetryable: false, message: "no" })
  const { heard, kept } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: "" }), script: model, model: Effect.fail(refused) })
      yield* scene.until("reprompt", hasHeard(scene, 10))
      yield* scene.silence(6000)
      yield* scene.says("Yes, I would like that.")
      yield* scene.until("end", () => ended(scene))
      yield* scene.session.finish
      return { heard: loud(scene).lastIndexOf(true), kept: scene.kept() }
    })
  )
  t.ok(heard > 0)
  t.match(kept.gathered, { call_disposition: "pipeline_error" })
  t.match(kept.transcript, /assistant: I am sorry, something is not working on my side\. Goodbye\.\n$/)
})

t.test("given a voice that cannot say a line, then the conversation ends instead of continuing silently", async (t) => {
  const broken = {
    engine: "broken",
    voice: "x",
    warm: () => Effect.void,
    isCrowdedBy: () => false,
    speak: () => Effect.fail(new TtsError({ reason: "Crashed" }))
  }
  const { kept, report } = await play(
    (line) =>
      Effect.gen(function* () {
        const scene = yield* talking(line, { plan: plan(), script: model })
        yield* scene.until("end", () => ended(scene))
        return { report: yield* scene.session.finish, kept: scene.kept() }
      }),
    { tts: Layer.succeed(Tts, broken) }
  )
  t.match(kept.gathered, { call_disposition: "pipeline_error" })
  t.match(report.events, [{ type: "rtf-pipeline-error", payload: { processor: "broken" } }])
  t.equal(report.firstAudioMillis, undefined)
})

t.test("given a machine, then the message is left once it may be, and the call ends after it", async (t) => {
  const detection = { voicemail_detection: { enabled: true, action: "leave_message", message: "Please call us back soon." } }
  const voice = { detectMachine: true, onMachine: "leave_message" } as const
  const { from, report, scene } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan({ greeting: longLine }, detection), script: model, voice })
      yield* scene.until("first words", hasHeard(scene, 10))
      scene.session.machineDetected()
      yield* scene.silence(400)
      const from = loud(scene).length
      scene.session.greetingEnded()
      yield* scene.until("end", () => ended(scene))
      return { from, scene, report: yield* scene.session.finish }
    })
  )
  t.equal(loud(scene).slice(from).filter(Boolean).length, framesOf("Please call us back soon."))
  t.match(scene.events.at(-1), { _tag: "EndWanted", cause: "machine_detected" })
  t.match(scene.kept().gathered, { call_disposition: "voicemail_detected" })
  t.ok(report.isVoicemail)
  t.match(report.gathered, { voicemail_message: "left" })
  t.match(scene.kept().gathered, { voicemail_message: "left", answered_by: "machine" })
})

t.test(
  "given a transfer, then it begins once the callee has heard of it, and a destination that answers ends the conversation",
  async (t) => {
    const transferring = (outcome: "transferred" | { readonly _tag: "Failed"; readonly reason: string }) => {
      const tool = storedTool(1, "Connect", {
        type: "transfer_call",
        config: { destination: "+15550100", customMessage: "I connect you now." }
      })
      const talk = planOf(definition({ greeting, tool_uuids: [toolUuid(1)] }), {}, [tool])
      let heardBefore = 0
      const script: ScriptedModel = (request) => (isAnswered(request) ? [text("They are not there.")] : [call("connect")])
      return play((line) =>
        Effect.gen(function* () {
          const verbs = {
            transfer: () =>
              Effect.sync(() => {
                heardBefore = loud(scene).filter(Boolean).length
                return outcome
              })
          }
          const scene: TalkScene = yield* talking(line, { plan: talk, script, verbs })
          yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
          yield* scene.silence(300)
          yield* scene.says("Yes, I would like that.")
          yield* scene.until("transfer", () => heardBefore > 0)
          yield* scene.silence(2000)
          yield* scene.session.finish
          const { gathered } = scene.kept()
          return { heardBefore, ended: ended(scene), heard: loud(scene).filter(Boolean).length, disposition: gathered["call_disposition"] }
        })
      )
    }
    const done = await transferring("transferred")
    t.equal(done.heardBefore, framesOf(greeting, "I connect you now."))
    t.equal(done.disposition, "transfer_call")
    t.notOk(done.ended, "their call goes on")
    const none = await transferring({ _tag: "Failed", reason: "Nobody took the call there." })
    t.equal(none.heard, framesOf(greeting, "I connect you now.", "They are not there."))
    t.equal(none.disposition, "user_hangup")
  }
)
