/**
 * A conversation by voice, for trying out an agent without a phone: the recognizer and the voice are those of an engine on this machine. What both sides
 * say is written as it is heard, with how long each stage of a turn took. Nobody is called, and nothing is stored.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Deferred, Effect, Layer } from "effect"
import type { ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import type { CallFact, ConversationEntry } from "#core/conversation/ConversationEntry.ts"
import { ConversationRecord } from "#core/conversation/ConversationRecord.ts"
import { conversationReport } from "#core/conversation/conversationReport.ts"
import { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { SpeechToText } from "#core/model/SpeechToText.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import { makeFramePacer } from "#runtime/voice/FramePacer.ts"
import { RecordedSpeech, RecordingUnplayable } from "#runtime/voice/RecordedSpeech.ts"
import * as SpokenTts from "#runtime/voice/SpokenTts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import type { CallVerbs, PlannedTalk, VoicePlan } from "#runtime/voice/VoiceSession.ts"
import type { Callee } from "./callees.ts"

interface SpokenTalk {
  readonly plan: ConversationPlan
  readonly model: OpenLanguageModel
  readonly hearing: SpeechToText
  readonly hintsAt: PlannedTalk["hintsAt"]
  readonly runTool: CallVerbs["runTool"]
  readonly context: JsonObject
  readonly callee: Callee
  readonly write: (line: string) => void
}

const pacer = makeFramePacer()
const noRecordings = Layer.succeed(RecordedSpeech, { find: () => Effect.fail(new RecordingUnplayable({ reason: "Unknown" })) })
const unused = { recording: () => "recordings/0.wav", transcript: () => "transcripts/0.txt", formerRecording: () => "recordings/0.wav" }

/** A folder of its own, because the files of an engine are closed to other users of the machine. */
const files = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "trunkline-talk-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    Files.layerLocal
  )
)

/** Needs `FliteVoices`. */
const voices = VoiceAgent.layerPacedBy(pacer).pipe(
  Layer.provide([SpokenTts.layer(), noRecordings, files, Layer.succeed(CallFiles, unused)])
)

const planOf = ({ context, hearing, hintsAt, model, plan }: SpokenTalk): VoicePlan => ({
  runId: 0,
  organizationId: OrganizationId.make(1),
  isContinued: false,
  isGreeting: true,
  record: false,
  keepsTranscript: true,
  detectMachine: false,
  onMachine: "continue",
  conversation: {
    plan,
    model,
    hearing,
    substitutes: [],
    endOfTurn: Effect.succeed(endOfTurnRules),
    bargeIn: { policy: "provisional", minWords: 3 },
    known: context,
    hintsAt
  }
})

/** Writes the waits of a turn once the agent is heard. Nobody has waited for the opening. */
const makeTeller = (write: (line: string) => void) => {
  const waits: Array<string> = []
  return (fact: CallFact): void => {
    if (fact._tag === "Said") write(`${fact.speaker === "user" ? "you" : "agent"}: ${fact.text}`)
    if (fact._tag === "Troubled") write(`  ${fact.processor}: ${fact.error}`)
    if (fact._tag === "Greeted") waits.length = 0
    if (fact._tag !== "Waited") return
    waits.push(`${fact.stage} ${Math.round(fact.millis)} ms`)
    if (fact.stage === "first_audio") write(`  waits: ${waits.splice(0).join(", ")}`)
  }
}

const talk = Effect.fnUntraced(function* (given: SpokenTalk) {
  const { callee, plan, runTool, write } = given
  const record = new ConversationRecord({ keepsTranscript: true, timeZone: plan.timeZone })
  const entries: Array<ConversationEntry> = []
  const tell = makeTeller(write)
  const over = yield* Deferred.make<void>()
  const agent = yield* VoiceAgent
  const session = yield* agent.attach(planOf(given), callee.line, () => Deferred.doneUnsafe(over, Effect.void), {
    runTool,
    sendDigits: (digits) =>
      Effect.as(
        Effect.sync(() => write(`  presses ${digits}`)),
        { _tag: "Sent" }
      ),
    transfer: () => Effect.succeed({ _tag: "Failed", reason: "Transfers are not available." }),
    note: (fact) => {
      entries.push(...record.take(fact))
      tell(fact)
    }
  })
  yield* Effect.acquireRelease(
    Effect.sync(() => callee.begin(pacer)),
    (stop) => Effect.sync(stop)
  )
  yield* Deferred.await(over)
  yield* session.finish
  return conversationReport(entries).gathered
})

export const spokenTalk = (given: SpokenTalk) => Effect.provide(Effect.scoped(talk(given)), voices)
