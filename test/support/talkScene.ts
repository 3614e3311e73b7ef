/**
 * A call that holds a conversation over a loopback: real audio in both directions, a recognizer that is told what was said, and a scripted
 * model.
 */
import { Effect } from "effect"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import type { ConversationPlan, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"
import type { JsonObject } from "#core/Json.ts"
import type { OpenEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import type { ModelRequest, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { SpeechToText } from "#core/model/SpeechToText.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { ConversationRecord } from "#core/conversation/ConversationRecord.ts"
import { type ConversationReport, conversationReport } from "#core/conversation/conversationReport.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import type { CallVerbs, PlannedTalk, VoiceEvent, VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { fliteClips } from "./prompts.ts"
import { scriptedRecognizer } from "./scriptedRecognizer.ts"
import { codesOf, nothing, type Sound } from "./sound.ts"
import type { ScriptedModel } from "./talk.ts"
import { played } from "./talkScript.ts"
import { type Loopback, planOfCall } from "./voiceScene.ts"

/** A model that answers from a script, and records its requests. */
export const scriptedModel = (script: ScriptedModel) => {
  const requests: Array<ModelRequest> = []
  const open = played((request) => {
    requests.push(request)
    return script(request)
  })
  return { requests, open }
}

/** Sentences that callees say aloud. */
const sentences = ["Yes, I would like that.", "Uh huh.", "Wait a minute, please.", "No, thank you.", "Please do not call me again."]
const clips = new Map([...fliteClips(sentences)].filter(({ voice }) => voice === "flite rms").map(({ name, samples }) => [name, samples]))

/** The sound of a callee who says the sentence. */
export const calleeSays = (sentence: string): Sound => clips.get(sentence) ?? nothing(0)

interface Scene {
  readonly plan: ConversationPlan
  readonly script: ScriptedModel
  readonly context?: JsonObject
  readonly hearing?: (recognizer: ReturnType<typeof scriptedRecognizer>) => SpeechToText
  readonly model?: OpenLanguageModel
  readonly endOfTurn?: OpenEndOfTurn
  readonly voice?: Partial<VoicePlan>
  readonly verbs?: Partial<CallVerbs>
}

/** Waits for everything that only needs its turn of the event loop. */
export const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const failed = Effect.succeed<ToolAnswer & { readonly _tag: "Failed" }>({ _tag: "Failed", reason: "Not here." })

/** Answers the call on the line whose time also paces the voices. */
export const talking = Effect.fnUntraced(function* (
  line: Loopback,
  { context = {}, endOfTurn = Effect.succeed(endOfTurnRules), hearing = (one) => one, model, plan, script, verbs, voice }: Scene
) {
  const agent = yield* VoiceAgent
  const recognizer = scriptedRecognizer()
  const scripted = scriptedModel(script)
  const facts: Array<CallFact> = []
  const events: Array<VoiceEvent> = []
  let isConcluded = false
  const conversation: PlannedTalk = {
    plan,
    model: model ?? scripted.open,
    hearing: hearing(recognizer),
    substitutes: [],
    endOfTurn: Effect.andThen(
      Effect.addFinalizer(() => Effect.sync(() => void (isConcluded = true))),
      endOfTurn
    ),
    bargeIn: { policy: "provisional", minWords: 3 },
    known: context,
    hintsAt: ({ id }) => ({ language: "en-US", keyterms: [], phrases: [id] })
  }
  const session = yield* agent.attach(
    planOfCall({ detectMachine: false, record: false, conversation, ...voice }),
    line.media,
    (event) => void events.push(event),
    {
      runTool: () => failed,
      sendDigits: () => failed,
      transfer: () => failed,
      note: (fact) => void facts.push(fact),
      ...verbs
    }
  )
  /** Lets the callee make this sound; `silence` lets them make none for some time. */
  const hears = Effect.fnUntraced(function* (sound: Sound) {
    const codes = codesOf(sound)
    for (let at = 0; at + 160 <= codes.length; at += 160) {
      line.step(codes.subarray(at, at + 160))
      yield* settled
    }
  })
  const silence = (millis: number) => hears(nothing(millis))
  const says = (sentence: string) =>
    Effect.suspend(() => {
      recognizer.says(sentence)
      return hears(calleeSays(sentence))
    })
  /** Lets the callee be silent until `holds` returns true. */
  const until = Effect.fnUntraced(function* (what: string, holds: () => boolean) {
    for (let frames = 0; !holds(); frames++) {
      if (frames > longestFrames) return yield* Effect.die(new Error(`no ${what}`))
      yield* silence(20)
    }
  })
  /** Lets the callee be silent in real time, for events that the clock decides, until `holds` returns true. */
  const paced = Effect.fnUntraced(function* (holds: () => boolean) {
    while (!holds()) {
      yield* silence(20)
      yield* Effect.sleep(frameMillis)
    }
  })
  /** What has been stored of the conversation so far. */
  const kept = () => reportOf(facts, plan.timeZone)
  /** Whether the conversation is over, and everything that it was waiting for. */
  const hasConcluded = () => isConcluded
  return { paced, line, session, events, facts, hasConcluded, kept, requests: scripted.requests, recognizer, hears, silence, says, until }
})
export type TalkScene = Effect.Success<ReturnType<typeof talking>>
/** Two minutes of frames. */
const longestFrames = 6000

/** What is stored of a conversation with these facts. */
export const reportOf = (facts: ReadonlyArray<CallFact>, timeZone = "UTC"): ConversationReport => {
  const record = new ConversationRecord({ keepsTranscript: true, timeZone })
  return conversationReport(facts.flatMap((fact) => record.take(fact)))
}

/** The conversation as the model sees it: what each side said. */
export const toldTo = (request: ModelRequest | undefined): ReadonlyArray<string> =>
  (request?.messages ?? []).flatMap((message) =>
    message._tag === "ToolResult" || message.text === "" ? [] : [`${message._tag === "User" ? "callee" : "agent"}: ${message.text}`]
  )
