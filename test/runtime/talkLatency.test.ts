/** What the callee of a conversation has to wait for: measured, and shortened where possible. */
import { Effect, Layer, type Scope, Stream } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { LanguageModel, ModelPart, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { Files } from "#runtime/storage/Files.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import type { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { call, finished, planOf, type ScriptedModel, text } from "#test/support/talk.ts"
import { calleeSays, type TalkScene, talking, toldTo } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { callingWith, isNoise, type Loopback, loopback, type Voices } from "#test/support/voiceScene.ts"

const folder = await mkdtemp(join(tmpdir(), "talk-latency-"))
t.teardown(() => rm(folder, { recursive: true }))
const calling = callingWith(Files.layerLocal(folder))

const play = <A>(use: (line: Loopback) => Effect.Effect<A, unknown, VoiceAgent | Scope.Scope>, voices: Voices = {}) => {
  const line = loopback(2)
  return calling(line, use(line), voices)
}

const lastWords = ({ messages }: Parameters<ScriptedModel>[0]): string => {
  const last = messages.findLast(({ _tag }) => _tag === "User")
  return last?._tag === "User" ? last.text : ""
}

/** Follows the edge for a yes, and asks something in the next node. */
const model: ScriptedModel = (request) => {
  const { messages, node, purpose } = request
  if (purpose === "extract") return [call("save_variables", { wish: lastWords(request) })]
  if (messages.at(-1)?._tag === "User") return [call(node.id === "start" ? "yes" : "done")]
  return [text(`This is ${node.id} and it has something to ask of you today.`)]
}
const greeting = "Good morning to you and to everybody in your house."
const extracting = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string" }] }
const plan = () => planOf(definition({ greeting, ...extracting }), { max_user_idle_timeout: 600 })

const loud = ({ line }: TalkScene) => line.heard.map((frame) => !isNoise(frame))
const hasHeard = (scene: TalkScene, frames: number) => () => loud(scene).filter(Boolean).length >= frames
/** The tone of the test's voice lasts 100 ms for each word. */
const framesOf = (...lines: ReadonlyArray<string>) => lines.join(" ").split(" ").length * 5

type Waited = Extract<CallFact, { readonly _tag: "Waited" }>
const waited = ({ facts }: TalkScene, stage: Waited["stage"]) =>
  facts.filter((fact): fact is Waited => fact._tag === "Waited" && fact.stage === stage)
const lastUsed = ({ facts }: TalkScene, kind: "llm" | "tts" | "stt") => facts.findLast((fact) => fact._tag === "Used" && fact.kind === kind)

t.test("given a callee who answers, then their waits are recorded by stage, and the use of services", async (t) => {
  const usage = { promptTokens: 10, completionTokens: 2, cachedTokens: 1 }
  const metered: OpenLanguageModel = Effect.succeed({
    provider: "hosted",
    model: "large",
    answer: (request) =>
      Stream.fromIterable<ModelPart>([...(model(request) as ReadonlyArray<ModelPart>), { _tag: "Finished", why: "stop", usage }])
  })
  const { atTurn, scene } = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan(), script: model, model: metered })
      yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
      yield* scene.silence(300)
      yield* scene.says("Yes, I would like that.")
      yield* scene.until("second line", hasHeard(scene, framesOf(greeting, "This is ask and")))
      const atTurn = [...scene.facts]
      yield* scene.session.finish
      return { atTurn, scene }
    })
  )
  const [recognition] = waited(scene, "recognition")
  const [endOfTurn] = waited(scene, "end_of_turn")
  const [firstAudio] = waited(scene, "first_audio")
  t.match(recognition, { processor: "scripted", model: "scripted" })
  t.match(endOfTurn, { processor: "embedded", model: "rules" })
  t.match(firstAudio, { processor: "tone", model: "none" })
  t.match(waited(scene, "first_token"), [
    { processor: "hosted", model: "large" },
    { processor: "hosted", model: "large" }
  ])
  t.match(waited(scene, "synthesis"), [
    { processor: "tone", model: "none" },
    { processor: "tone", model: "none" }
  ])
  const [text = 0, end = 0, audio = 0] = [recognition?.millis, endOfTurn?.millis, firstAudio?.millis]
  t.ok(text >= 60 && text < end && end <= audio, `${text}, ${end} and ${audio} ms after the voice`)
  t.ok(
    atTurn.some((fact) => fact._tag === "Used" && fact.kind === "stt"),
    "while the call lasts"
  )
  // For two answers, and the extraction at the first node.
  const tokens = { promptTokens: 30, completionTokens: 6, cachedTokens: 3 }
  t.match(lastUsed(scene, "llm"), { processor: "hosted", model: "large", tokens })
  t.match(lastUsed(scene, "tts"), { processor: "tone", model: "none", characters: Number })
  t.match(lastUsed(scene, "stt"), { processor: "scripted", model: "scripted", seconds: Number })
})

t.test(
  "given an answer that may be complete, then the model is asked at once, and speaks once it is certain; if the callee continues, then never",
  async (t) => {
    const line = "This is start and it has something to ask."
    const script: ScriptedModel = (request) => {
      if (request.purpose === "extract") return [call("save_variables", {})]
      return lastWords(request) === "let me see" ? [call("no")] : [text(`${line} `)]
    }
    const { aheadOfTurn, dropped, heard, scene } = await play((loop) =>
      Effect.gen(function* () {
        const scene = yield* talking(loop, { plan: plan(), script })
        yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
        yield* scene.silence(300)
        const before = loud(scene).filter(Boolean).length
        const isTurn = () => scene.facts.some((fact) => fact._tag === "Said" && fact.speaker === "user")
        scene.recognizer.says("let me see")
        yield* scene.hears(calleeSays("No, thank you."))
        yield* scene.until("thought", () => scene.requests.length > 0)
        const aheadOfTurn = !isTurn() && loud(scene).filter(Boolean).length === before
        yield* scene.says("Yes, I would like that.")
        yield* scene.until("answer", hasHeard(scene, framesOf(greeting, line)))
        yield* scene.silence(1000)
        const heard = loud(scene).filter(Boolean).length - before
        return { aheadOfTurn, dropped: toldTo(scene.requests[0]), heard, scene }
      })
    )
    t.ok(aheadOfTurn)
    t.strictSame(dropped, [`agent: ${greeting}`, "callee: let me see"])
    const entered = scene.facts.filter((fact) => fact._tag === "Noted" && fact.note._tag === "NodeEntered")
    t.equal(entered.length, 1, "the edge that was chosen for the first half was not followed")
    t.equal(heard, framesOf(line), "nothing of what was thought up for the first half was heard")
    const asked = scene.requests.filter(({ purpose }) => purpose === "turn").map(toldTo)
    t.strictSame(asked.at(-1), [`agent: ${greeting}`, "callee: let me see Yes, I would like that."])
    t.equal(asked.length, 2, "and the answer requested in advance is the one that was given")
  }
)

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
  const scene = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan(), script: model, model: hosted })
      yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
      yield* scene.silence(300)
      scene.recognizer.says("let me see")
      yield* scene.hears(calleeSays("No, thank you."))
      yield* scene.until("thought", () => asked.length > 0)
      yield* scene.says("Yes, I would like that.")
      yield* scene.until("answer", hasHeard(scene, framesOf(greeting, "This is it.")))
      yield* scene.session.finish
      return scene
    })
  )
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
  const heard = await play((line) =>
    Effect.gen(function* () {
      const scene = yield* talking(line, { plan: plan(), script: model, model: slow })
      yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
      yield* scene.silence(300)
      yield* scene.says("No, thank you.")
      yield* scene.until("clause", hasHeard(scene, framesOf(greeting, "Of course we can do that,")))
      rest.resolve()
      yield* scene.until("line", hasHeard(scene, framesOf(greeting, "Of course we can do that, and it is done.")))
      yield* scene.silence(500)
      yield* scene.session.finish
      return scene.facts.flatMap((fact) => (fact._tag === "Said" && fact.speaker === "assistant" ? [fact.text] : []))
    })
  )
  t.strictSame(heard, [greeting, "Of course we can do that, and it is done."])
})

t.test(
  "given a callee who still hears a line, when the model answers at once, then what may follow is already made, and costs nothing",
  async (t) => {
    const answer: LanguageModel["answer"] = (request) =>
      Stream.fromIterable<ModelPart>([...(model(request) as ReadonlyArray<ModelPart>), finished])
    const made = async (more: Partial<LanguageModel>) => {
      const texts: Array<string> = []
      const noted = Effect.map(Tts, (tts) =>
        Tts.of({
          ...tts,
          speak: (text, ...how) => {
            texts.push(text)
            return tts.speak(text, ...how)
          }
        })
      )
      const tts = Layer.provide(Layer.effect(Tts, noted), Tts.layerSilent)
      const opened: OpenLanguageModel = Effect.succeed({ provider: "ruled", model: "one", answer, ...more })
      const use = (line: Loopback) =>
        Effect.gen(function* () {
          const scene = yield* talking(line, { plan: plan(), script: model, model: opened })
          yield* scene.until("greeting", hasHeard(scene, framesOf(greeting)))
          yield* scene.silence(100)
          const { usage } = yield* scene.session.finish
          return { texts, usage }
        })
      return play(use, { tts })
    }
    const instant = await made({ isInstant: true })
    const next = ["ask", "sorry"].map((id) => `This is ${id} and it has something to ask of you today.`)
    t.strictSame(instant.texts, [greeting, ...next])
    t.strictSame(instant.usage.tts, { "tone#0|||none": greeting.length }, "only what was said is counted")
    t.strictSame((await made({})).texts, [greeting], "but nothing where each answer costs something")
  }
)
