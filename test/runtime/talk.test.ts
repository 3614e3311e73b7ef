/** A call that holds a conversation, with a manual frame pacer: what the callee hears, and what the conversation is told about it. */
import { Effect } from "effect"
import t from "tap"
import { ModelError } from "#core/model/LanguageModel.ts"
import { notUnderstood } from "#core/model/SpeechToText.ts"
import { mute } from "#core/model/TextToSpeechProvider.ts"
import { keyTone } from "#test/support/sound.ts"
import { call, type ScriptedModel, text } from "#test/support/talk.ts"
import { settled, type TalkScene, toldTo } from "#test/support/talkScene.ts"
import { brokenTts, framesOf, greeted, greeting, heard, lastWords, loud, loudFrames, talkPlan, voiceIn } from "./callVoice.ts"

const { attached, conversing } = await voiceIn(t)

const isAnswered = ({ messages }: Parameters<ScriptedModel>[0]) => messages.at(-1)?._tag !== "User"
const question = "This is ask and it has something to ask of you today."
const goodbye = "Thank you for your time and goodbye."

/** Follows the edge for a yes or a no, and at `ask` the only edge that is left. */
const model: ScriptedModel = (request) => {
  const { node, purpose } = request
  if (purpose === "extract") return [call("save_variables", { wish: lastWords(request) })]
  if (purpose !== "turn") return [text(`${purpose} said.`)]
  if (node.type === "endCall") return [text(goodbye)]
  // Markup is not said, wherever it is cut.
  if (isAnswered(request))
    return ["*", `*This is ${node.id}** and it has [something](https://acme`, ".example) to ask `of you` today."].map(text)
  const words = lastWords(request)
  if (words === notUnderstood) return [text("Could you say that again?")]
  if (node.id === "start") return [call(/^yes/i.test(words) ? "yes" : "no")]
  return /^(yes|1)/i.test(words) ? [call("done")] : [text(`You said ${words}`)]
}
const usual = { plan: talkPlan(), script: model }
const ended = ({ events }: TalkScene) => events.some(({ _tag }) => _tag === "EndWanted")

t.test("given a callee who answers, then the conversation proceeds, and hangs up once its last word has been heard", async (t) => {
  const { report, scene } = await conversing(usual, function* (scene) {
    yield* greeted(scene)
    yield* scene.says("Yes, I would like that.")
    yield* heard(scene, greeting, question)
    yield* scene.silence(300)
    yield* scene.hears(keyTone("1", 120))
    yield* scene.silence(60)
    // The carrier reports the same key, late.
    scene.session.dtmf("1", 0)
    yield* scene.until("end", () => ended(scene))
    return { scene, report: yield* scene.session.finish }
  })
  const said = [greeting, question, goodbye]
  t.equal(loudFrames(scene), framesOf(...said), "all of it was heard, and nothing twice")
  t.match(scene.events.at(-1), { _tag: "EndWanted", cause: "agent_hangup" })
  const { gathered, transcript, usage } = scene.kept()
  t.match(gathered, { call_disposition: "user_qualified", call_tags: ["user_qualified", "user_speech"] })
  t.match(gathered, { wish: "Yes, I would like that.", nodes_visited: ["start", "ask", "bye"], dtmf_digits: "1" })
  t.strictSame([report.isVoicemail, report.gathered], [false, { dtmf_digits: "1" }])
  t.strictSame(
    transcript
      .trim()
      .split("\n")
      .map((line) => line.replace(/^\[.*?\] /, "")),
    [`assistant: ${said[0]}`, "user: Yes, I would like that.", `assistant: ${said[1]}`, "user: pressed 1", `assistant: ${said[2]}`]
  )
  const characters = said.reduce((sum, { length }) => sum + length, 0)
  t.match(usage, { tts: { "tone#0|||none": characters } })
  const nodes = scene.recognizer.hints.map(({ phrases }) => phrases[0])
  t.strictSame(nodes, ["start", "start", "ask", "bye"], "the recognizer knows the nodes")
})

const longLine = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
/** Answers everything with a long line, so that it can be interrupted. */
const talkative: ScriptedModel = ({ purpose }) => (purpose === "extract" ? [call("save_variables", {})] : [text(longLine)])

t.test("given a line that must be heard, when the callee talks over it, then it is heard, and they are answered afterwards", async (t) => {
  const scene = await conversing({ plan: talkPlan({ greeting: longLine, allow_interrupt: false }), script: talkative }, function* (scene) {
    yield* scene.until("first words", () => loudFrames(scene) >= 15)
    yield* scene.says("Wait a minute, please.")
    yield* heard(scene, longLine)
    yield* scene.silence(1000)
    const asked = scene.requests.length
    scene.recognizer.forget()
    yield* scene.says("No, thank you.")
    yield* scene.until("answer", () => scene.requests.length > 0)
    t.equal(asked, 0)
    return scene
  })
  t.strictSame(toldTo(scene.requests[0]), [`agent: ${longLine}`, "callee: No, thank you."])
})

t.test("given a call that ends by itself, then the conversation says why", async (t) => {
  const endedBy = (cause: "duration_exceeded" | "originator_cancel" | "machine_detected") =>
    conversing(usual, function* (scene) {
      yield* scene.silence(500)
      scene.session.hungUp?.(cause)
      yield* scene.session.finish
      return scene.kept().gathered["call_disposition"]
    })
  t.equal(await endedBy("duration_exceeded"), "call_duration_exceeded")
  t.equal(await endedBy("originator_cancel"), "system_cancelled")
  t.equal(await endedBy("machine_detected"), "voicemail_detected")
})

const refused = Effect.fail(new ModelError({ reason: "auth", isRetryable: false, message: "no" }))

t.test("given a model that cannot be opened, then the agent apologizes, and hangs up once that has been heard", async (t) => {
  const seen = await conversing({ ...usual, plan: talkPlan({ greeting: "" }), model: refused }, function* (scene) {
    yield* scene.until("reprompt", () => loudFrames(scene) >= 10)
    yield* scene.silence(6000)
    yield* scene.says("Yes, I would like that.")
    yield* scene.until("end", () => ended(scene))
    yield* scene.session.finish
    return { heard: loud(scene).lastIndexOf(true), kept: scene.kept() }
  })
  t.ok(seen.heard > 0)
  t.match(seen.kept.gathered, { call_disposition: "pipeline_error" })
  t.match(seen.kept.transcript, /assistant: I am sorry, something is not working on my side\. Goodbye\.\n$/)
})

t.test(
  "given a hosted voice, when somebody answers who may speak first, then it is connected to before there is anything to say",
  async (t) => {
    let connected = 0
    const nobody = new ModelError({ reason: "unreachable", isRetryable: false, message: "nobody speaks here" })
    const voice = (warm: Effect.Effect<void>) => ({ speech: { ...mute("hosted", nobody), warm }, key: "hosted" })
    const counted = voice(Effect.sync(() => void connected++))
    await conversing({ ...usual, voice: { voice: counted } }, function* () {
      yield* settled
    })
    t.equal(connected, 1)
    await attached({ plan: { voice: counted } }, () => undefined)
    t.equal(connected, 1, "but not by an agent that cannot hear")
    await conversing({ ...usual, voice: { voice: voice(Effect.die("a fault")) } }, function* (scene) {
      yield* greeted(scene)
    })
  }
)

t.test("given a voice that cannot say a line, then the conversation ends instead of continuing silently", async (t) => {
  const { kept, report } = await conversing(
    usual,
    function* (scene) {
      yield* scene.until("end", () => ended(scene))
      return { report: yield* scene.session.finish, kept: scene.kept() }
    },
    { tts: brokenTts }
  )
  t.match(kept.gathered, { call_disposition: "pipeline_error" })
  t.ok(kept.events.some(({ payload }) => payload["processor"] === "broken"))
  t.equal(report.firstAudioAt, undefined)
})

t.test("given a machine, then the message is left once it may be, and the call ends after it", async (t) => {
  const detection = { voicemail_detection: { enabled: true, action: "leave_message", message: "Please call us back soon." } }
  const voice = { detectMachine: true, onMachine: "leave_message" } as const
  const { from, report, scene } = await conversing(
    { plan: talkPlan({ greeting: longLine }, detection), script: model, voice },
    function* (scene) {
      yield* scene.until("first words", () => loudFrames(scene) >= 10)
      scene.session.machineDetected()
      yield* scene.silence(400)
      const from = loud(scene).length
      scene.session.greetingEnded()
      yield* scene.until("end", () => ended(scene))
      return { from, scene, report: yield* scene.session.finish }
    }
  )
  t.equal(loud(scene).slice(from).filter(Boolean).length, framesOf("Please call us back soon."))
  t.match(scene.events.at(-1), { _tag: "EndWanted", cause: "machine_detected" })
  t.match(scene.kept().gathered, { call_disposition: "voicemail_detected" })
  t.ok(report.isVoicemail)
  t.match(report.gathered, { voicemail_message: "left" })
  t.match(scene.kept().gathered, { voicemail_message: "left", answered_by: "machine" })
})
