/** What the callee of a conversation has to wait for: measured, shortened where possible, and judged by a model of the agent's choice. */
import { Effect, Stream } from "effect"
import t from "tap"
import { decode, encode } from "#core/audio/Mulaw.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { EndOfTurn, Pause } from "#core/model/EndOfTurn.ts"
import { type LanguageModel, ModelError, type ModelPart, type OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { mute } from "#core/model/TextToSpeechProvider.ts"
import type { VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { call, finished, type ScriptedModel, text } from "#test/support/talk.ts"
import { calleeSays, type TalkScene, toldTo } from "#test/support/talkScene.ts"
import { isNoise } from "#test/support/voiceScene.ts"
import { framesOf, greeted, greeting, heard, lastWords, loudFrames, notedTts, talkPlan, voiceIn } from "./callVoice.ts"

const { conversing } = await voiceIn(t)
const sentence = "Yes, I would like that."

/** Follows the edge for a yes, and asks something in the next node. */
const model = (request: Parameters<ScriptedModel>[0]): ReadonlyArray<ModelPart> => {
  const { messages, node, purpose } = request
  if (purpose === "extract") return [call("save_variables", { wish: lastWords(request) })]
  if (messages.at(-1)?._tag === "User") return [call(node.id === "start" ? "yes" : "done")]
  return [text(`This is ${node.id} and it has something to ask of you today.`)]
}
const unasked = new ModelError({ reason: "broken", isRetryable: false, message: "it is not asked" })
const usual = { plan: talkPlan(), script: model }

type Waited = Extract<CallFact, { readonly _tag: "Waited" }>
const waited = ({ facts }: TalkScene, stage: Waited["stage"]) =>
  facts.filter((fact): fact is Waited => fact._tag === "Waited" && fact.stage === stage)
const lastUsed = ({ facts }: TalkScene, kind: "llm" | "tts" | "stt") => facts.findLast((fact) => fact._tag === "Used" && fact.kind === kind)

t.test("given a callee who answers, then their waits are recorded by stage, and the use of services", async (t) => {
  const usage = { promptTokens: 10, completionTokens: 2, cachedTokens: 1 }
  const metered: OpenLanguageModel = Effect.succeed({
    provider: "hosted",
    model: "large",
    answer: (request) => Stream.fromIterable<ModelPart>([...model(request), { _tag: "Finished", why: "stop", usage }])
  })
  const { atTurn, scene } = await conversing({ ...usual, model: metered }, function* (scene) {
    yield* greeted(scene)
    yield* scene.says(sentence)
    yield* heard(scene, greeting, "This is ask and")
    const atTurn = [...scene.facts]
    yield* scene.session.finish
    return { atTurn, scene }
  })
  const [recognition] = waited(scene, "recognition")
  const [endOfTurn] = waited(scene, "end_of_turn")
  const [firstAudio] = waited(scene, "first_audio")
  t.match(recognition, { processor: "scripted", model: "scripted" })
  t.match(endOfTurn, { processor: "embedded", model: "rules" })
  t.match(firstAudio, { processor: "tone", model: "none" })
  const twice = (processor: string, model: string) => [1, 2].map(() => ({ processor, model }))
  t.match(waited(scene, "first_token"), twice("hosted", "large"))
  t.match(waited(scene, "synthesis"), twice("tone", "none"))
  const [text = 0, end = 0, audio = 0] = [recognition?.millis, endOfTurn?.millis, firstAudio?.millis]
  t.ok(text >= 60 && text < end && end <= audio, `${text}, ${end} and ${audio} ms after the voice`)
  const isUsed = atTurn.some((fact) => fact._tag === "Used" && fact.kind === "stt")
  t.ok(isUsed, "while the call lasts")
  // For two answers, and the extraction at the first node.
  const tokens = { promptTokens: 30, completionTokens: 6, cachedTokens: 3 }
  t.match(lastUsed(scene, "llm"), { processor: "hosted", model: "large", tokens })
  t.match(lastUsed(scene, "tts"), { processor: "tone", model: "none", characters: Number })
  t.match(lastUsed(scene, "stt"), { processor: "scripted", model: "scripted", seconds: Number })
})

t.test("given an answer that may be complete, then the model is asked at once, and is heard unless the callee continues", async (t) => {
  const answer = "This is start and it has something to ask."
  const script: ScriptedModel = (request) => {
    if (request.purpose === "extract") return [call("save_variables", {})]
    return lastWords(request) === "let me see" ? [call("no")] : [text(`${answer} `)]
  }
  const { added, aheadOfTurn, dropped, scene } = await conversing({ plan: talkPlan(), script }, function* (scene) {
    yield* greeted(scene)
    const before = loudFrames(scene)
    const isTurn = () => scene.facts.some((fact) => fact._tag === "Said" && fact.speaker === "user")
    scene.recognizer.says("let me see")
    yield* scene.hears(calleeSays("No, thank you."))
    yield* scene.until("thought", () => scene.requests.length > 0)
    const aheadOfTurn = !isTurn() && loudFrames(scene) === before
    yield* scene.says(sentence)
    yield* heard(scene, greeting, answer)
    yield* scene.silence(1000)
    const added = loudFrames(scene) - before
    return { aheadOfTurn, dropped: toldTo(scene.requests[0]), added, scene }
  })
  t.ok(aheadOfTurn)
  t.strictSame(dropped, [`agent: ${greeting}`, "callee: let me see"])
  const entered = scene.facts.filter((fact) => fact._tag === "Noted" && fact.note._tag === "NodeEntered")
  t.equal(entered.length, 1, "the edge that was chosen for the first half was not followed")
  t.equal(added, framesOf(answer), "nothing of what was thought up for the first half was heard")
  const asked = scene.requests.filter(({ purpose }) => purpose === "turn").map(toldTo)
  t.strictSame(asked.at(-1), [`agent: ${greeting}`, "callee: let me see Yes, I would like that."])
  t.equal(asked.length, 2, "and the answer requested in advance is the one that was given")
})

t.test("given an answer requested before the end of the turn, when it is dropped, then the run counts its tokens too", async (t) => {
  const usage = { promptTokens: 1000, completionTokens: 20, cachedTokens: 10 }
  const asked: Array<string> = []
  const hosted: OpenLanguageModel = Effect.succeed({
    provider: "hosted",
    model: "large",
    answer: (request) => {
      if (request.purpose !== "extract") asked.push(lastWords(request))
      if (lastWords(request) === "let me see") return Stream.concat(Stream.make(text("Take ")), Stream.never)
      const whole = request.purpose === "extract" ? call("save_variables", {}) : text("This is it. ")
      return Stream.make<ReadonlyArray<ModelPart>>(whole, { _tag: "Finished", why: "stop", usage })
    }
  })
  const scene = await conversing({ ...usual, model: hosted }, function* (scene) {
    yield* greeted(scene)
    scene.recognizer.says("let me see")
    yield* scene.hears(calleeSays("No, thank you."))
    yield* scene.until("thought", () => asked.length > 0)
    yield* scene.says(sentence)
    yield* heard(scene, greeting, "This is it.")
    yield* scene.session.finish
    return scene
  })
  t.strictSame(asked, ["let me see", "let me see Yes, I would like that."])
  const used = lastUsed(scene, "llm")
  const tokens = used?._tag === "Used" && used.kind === "llm" ? used.tokens : undefined
  const told = (tokens?.cachedTokens ?? 0) / usage.cachedTokens
  t.ok(told >= 1)
  const dropped = (tokens?.promptTokens ?? 0) - told * usage.promptTokens
  t.ok(dropped > 500 && dropped < 1500, `${dropped} tokens of a request that is about as long`)
})

t.test("given a model that streams its answer, then its first clause is heard before the rest has arrived", async (t) => {
  const rest = Promise.withResolvers<void>()
  const slow: OpenLanguageModel = Effect.succeed({
    provider: "hosted",
    model: "slow",
    answer: ({ purpose }) =>
      purpose === "extract"
        ? Stream.make(call("save_variables", {}), finished)
        : Stream.concat(
            Stream.make(text("Of course "), text("we can do that, "), text("and")),
            Stream.concat(Stream.drain(Stream.fromEffect(Effect.promise(() => rest.promise))), Stream.make(text(" it is done."), finished))
          )
  })
  const lines = await conversing({ ...usual, model: slow }, function* (scene) {
    yield* greeted(scene)
    yield* scene.says("No, thank you.")
    yield* heard(scene, greeting, "Of course we can do that,")
    rest.resolve()
    yield* heard(scene, greeting, "Of course we can do that, and it is done.")
    yield* scene.silence(500)
    yield* scene.session.finish
    return scene.facts.flatMap((fact) => (fact._tag === "Said" && fact.speaker === "assistant" ? [fact.text] : []))
  })
  t.strictSame(lines, [greeting, "Of course we can do that, and it is done."])
})

t.test("given a callee who hears a line, when the model's answers are free, then what may follow is made, and costs nothing", async (t) => {
  const answer: LanguageModel["answer"] = (request) => Stream.fromIterable([...model(request), finished])
  const made = async (more: Partial<LanguageModel>, voice: Partial<VoicePlan> = {}) => {
    const { asked, tts } = notedTts()
    const opened: OpenLanguageModel = Effect.succeed({ provider: "ruled", model: "one", answer, ...more })
    const usage = await conversing(
      { ...usual, model: opened, voice },
      function* (scene) {
        yield* heard(scene, greeting)
        yield* scene.silence(100)
        yield* scene.session.finish
        return scene.kept().usage
      },
      { tts }
    )
    return { texts: asked, usage }
  }
  const free = await made({ isFree: true })
  const next = ["ask", "sorry"].map((id) => `This is ${id} and it has something to ask of you today.`)
  t.strictSame(free.texts, [greeting, ...next])
  t.strictSame(free.usage.tts, { "tone#0|||none": greeting.length }, "only what was said is counted")
  t.strictSame((await made({})).texts, [greeting], "but nothing where each answer costs something")
  const hosted = { speech: { ...mute("hosted", unasked), ownsQueue: false }, key: "hosted" }
  t.strictSame((await made({ isFree: true }, { voice: hosted })).texts, [greeting], "or what is spoken")
})

const turns = 2
/** The callee says the sentence after the greeting, and again after the next line. */
const judgedBy = (probability: EndOfTurn["probability"]) =>
  conversing({ ...usual, endOfTurn: Effect.succeed<EndOfTurn>({ provider: "acme", model: "ears", probability }) }, function* (scene) {
    const frames = scene.line.heard
    for (let turn = 1; turn <= turns; turn++) {
      const before = frames.length
      yield* scene.until("question", () => frames.slice(before).some((frame) => !isNoise(frame)))
      yield* scene.until("end of the question", () => frames.length > 25 && frames.slice(-25).every(isNoise))
      const asked = scene.requests.length
      yield* scene.says(sentence)
      yield* scene.until("answer", () => scene.requests.length > asked)
    }
    return scene
  })

const includes = (whole: Int16Array, part: Int16Array): boolean => {
  for (let from = 0; from + part.length <= whole.length; from++) if (part.every((sample, at) => sample === whole[from + at])) return true
  return false
}

t.test("given an end-of-turn model that uses the audio, then it gets the audio of the turn, and none of the turns before", async (t) => {
  const pauses: Array<Pause> = []
  await judgedBy((pause) =>
    Effect.sync(() => {
      pauses.push(pause)
      return 1
    })
  )
  const said = decode(encode(Int16Array.from(calleeSays(sentence) as ArrayLike<number>, (value) => Math.round(value))))
  t.ok(pauses.length >= turns)
  for (const { audio, text } of pauses) {
    t.equal(text, sentence)
    t.ok(includes(audio, said.subarray(said.length / 2, said.length / 2 + 800)), "the middle of the sentence")
    t.ok(audio.length < said.length + 8000, `${audio.length} samples of ${said.length}`)
  }
})

const failures: ReadonlyArray<readonly [name: string, fail: () => Effect.Effect<number, ModelError>]> = [
  ["fails", () => Effect.fail(new ModelError({ reason: "broken", isRetryable: true, message: "gone" }))],
  ["dies", () => Effect.die(new Error("of the model's own"))],
  [
    "throws",
    () => {
      throw new Error("of the model's own")
    }
  ]
]
for (const [name, fail] of failures)
  t.test(`given an end-of-turn model that ${name}, then the rules judge instead, and it is not asked again`, async (t) => {
    let asked = 0
    const scene = await judgedBy(() => {
      asked++
      return fail()
    })
    t.equal(asked, 1)
    t.ok(scene.requests.length >= turns)
  })
