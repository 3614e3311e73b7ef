/** Calls with a voice over a loopback. Their files are in a folder that is removed with the test. */
import { Effect, Layer, type Scope } from "effect"
import type { Test } from "tap"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import { Files } from "#runtime/storage/Files.ts"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import { noVerbs, type VoicePlan, type VoiceSession } from "#runtime/voice/VoiceSession.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { planOf } from "#test/support/talk.ts"
import { reportOf, settled, type TalkScene, talking } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { callingWith, eventsOf, isNoise, type Loopback, loopback, type Opening, planOfCall, type Voices } from "#test/support/voiceScene.ts"

type Act<Given, A> = (given: Given) => Effect.gen.Return<A, unknown, VoiceAgent | Files | Scope.Scope>
type Doing<Given> = (given: Given) => Effect.gen.Return<unknown, unknown, VoiceAgent | Files | Scope.Scope> | undefined

interface Attached {
  readonly agent: VoiceAgent["Service"]
  readonly line: Loopback
  readonly session: VoiceSession
}
interface How {
  readonly plan?: Partial<VoicePlan>
  readonly opening?: Opening
  readonly line?: Loopback
  readonly media?: MediaStream
  /** The voice prepares itself while the phone rings, before this is called. */
  readonly prepared?: () => void
  readonly voices?: Voices
}

export const voiceIn = async (t: Test) => {
  const folder = temporaryFolder(t)
  const files = Files.layerLocal(folder)
  const calling = callingWith(files)
  /** One session of an agent that cannot hear, from the answer until `act` is over, what it reports, and what is kept of its conversation. */
  const attached = async ({ line = loopback(), media = line.media, opening, plan, prepared, voices = {} }: How, act: Doing<Attached>) => {
    const { emit, events } = eventsOf()
    const given = planOfCall(plan, opening)
    const facts: Array<CallFact> = []
    const work = Effect.gen(function* () {
      const agent = yield* VoiceAgent
      if (prepared !== undefined) yield* agent.prepare(given)
      prepared?.()
      const session = yield* agent.attach(given, media, emit, { ...noVerbs, note: (fact) => void facts.push(fact) })
      yield* settled
      const acting = act({ agent, line, session })
      if (acting !== undefined) yield* acting
      yield* settled
      return yield* session.finish
    })
    const report = await calling(line, work, voices)
    return { events, line, report, kept: reportOf(facts) }
  }
  /** A conversation on a carrier with a delay of 40 ms. */
  const conversing = <A>(given: Parameters<typeof talking>[1], act: Act<TalkScene, A>, voices: Voices = {}) => {
    const line = loopback(2)
    const work = Effect.gen(function* () {
      return yield* act(yield* talking(line, given))
    })
    return calling(line, work, voices)
  }
  return { attached, calling, conversing, files, folder }
}

/** Works like the silent voice, and notes what it is asked to speak. */
export const notedTts = () => {
  const asked: Array<string> = []
  const noting = Effect.map(Tts, (silent) =>
    Tts.of({
      ...silent,
      speak: (text, ...how) =>
        Effect.suspend(() => {
          asked.push(text)
          return silent.speak(text, ...how)
        })
    })
  )
  return { asked, tts: Layer.provide(Layer.effect(Tts, noting), Tts.layerSilent) }
}
/** A voice whose worker crashes. */
export const brokenTts = Layer.succeed(Tts, {
  engine: "broken",
  voice: "x",
  firstSoundMillis: 0,
  warm: () => Effect.void,
  isCrowdedBy: () => false,
  speak: () => Effect.fail(new TtsError({ reason: "Crashed" }))
})

export const greeting = "Good morning to you and to everybody in your house."
const extracting = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string" }] }
/** A conversation that begins with the greeting and extracts a wish. */
export const talkPlan = (start: JsonObject = {}, configurations: JsonObject = {}) =>
  planOf(definition({ greeting, ...start, ...extracting }), { max_user_idle_timeout: 600, ...configurations })

/** What the callee said last. */
export const lastWords = ({ messages }: ModelRequest): string => {
  const last = messages.findLast(({ _tag }) => _tag === "User")
  return last?._tag === "User" ? last.text : ""
}
/** The tone of the test's voice lasts 100 ms for each word. */
export const framesOf = (...lines: ReadonlyArray<string>) => lines.join(" ").split(" ").length * 5
/** Which of the frames that the callee has heard are loud, and how many. */
export const loud = ({ line }: Pick<TalkScene, "line">) => line.heard.map((frame) => !isNoise(frame))
export const loudFrames = (scene: Pick<TalkScene, "line">) => loud(scene).filter(Boolean).length
/** Lets the callee be silent until these lines have been heard. */
export const heard = (scene: TalkScene, ...lines: ReadonlyArray<string>) =>
  scene.until(lines.at(-1) ?? "", () => loudFrames(scene) >= framesOf(...lines))
/** Waits for the end of the greeting, and a little longer, as somebody does who answers. */
export const greeted = (scene: TalkScene) => Effect.andThen(heard(scene, greeting), scene.silence(300))

/** The lengths of the stretches of speech and, as negative numbers, of noise. */
export const stretches = (sent: ReadonlyArray<Uint8Array>) => {
  const found: Array<number> = []
  for (const step of sent.map((frame) => (isNoise(frame) ? -1 : 1))) {
    const last = found.at(-1) ?? 0
    if (last * step > 0) found[found.length - 1] = last + step
    else found.push(step)
  }
  return found
}
