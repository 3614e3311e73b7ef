/**
 * Calls that hold conversations through an emulated Asterisk: the engine's own actors, its Asterisk adapter and its media plane, in one
 * process and in real time. The database is the in-memory world of `fakes.ts`. The callee really speaks; the recognizer is told what was said.
 */
import { Effect, Layer } from "effect"
import type { Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { CallId } from "#core/Id.ts"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { encodeFrames } from "#core/audio/Mulaw.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import type { Tool } from "#core/tool/Tool.ts"
import { CallConversations } from "#runtime/call/CallConversations.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { Files } from "#runtime/storage/Files.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { makeFramePacer } from "#runtime/voice/FramePacer.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { ariConfig } from "./ariConfig.ts"
import { temporaryFolder } from "./dataFolder.ts"
import { egress } from "./egress.ts"
import { attemptIds, configurationId, layerOf, organizationId, World } from "./fakes.ts"
import { runLive } from "./run.ts"
import { scriptedRecognizer } from "./scriptedRecognizer.ts"
import { samplesOf, type Sound } from "./sound.ts"
import type { ScriptedModel } from "./talk.ts"
import { calleeSays, reportOf, scriptedModel } from "./talkScene.ts"
import { until, untilTrue } from "./until.ts"
import { isNoise, voicesWith } from "./voiceScene.ts"

const callId = CallId.make("01890000-0000-7000-8000-0000000000aa")
/** The callee, who says what a test wants. */
const callee = "+15550100017"

interface Spoken {
  readonly definition: JsonObject
  readonly script: ScriptedModel
  readonly configurations?: JsonObject
  readonly tools?: ReadonlyArray<Tool>
}

export interface SpokenCall {
  readonly requests: ReadonlyArray<ModelRequest>
  readonly facts: ReadonlyArray<CallFact>
  readonly makes: (sound: Sound) => void
  /** Says a sentence of `talkScene.ts`. */
  readonly says: (sentence: string) => void
  readonly presses: (key: string) => void
  readonly hangsUp: () => void
  /** How many frames of the agent's voice the callee has heard. */
  readonly heard: () => number
  /** Resolves when that many have been heard, and the callee has had time to notice. */
  readonly untilHeard: (frames: number) => Promise<unknown>
  readonly world: World
  readonly emulator: Awaited<ReturnType<typeof startAriEmulator>>
}

/** Dials one call, and returns when its end has been recorded. */
export const spokenCall = async (
  t: Test,
  { configurations = {}, definition, script, tools = [] }: Spoken,
  act: (call: SpokenCall) => Promise<unknown>
) => {
  const folder = temporaryFolder(t)
  const emulator = await startAriEmulator({ ringMillis: 200 })
  t.teardown(() => emulator.stop())
  const recognizer = scriptedRecognizer()
  const model = scriptedModel(script)
  const world = new World()
  world.withContacts(1)
  world.adapter = ari
  world.trunk = {
    callerIds: { all: [], preferred: undefined },
    credentials: { ...ariConfig(emulator), transfer_dial_string: "PJSIP/{number}@trunk" },
    id: configurationId,
    isProven: false,
    maxConcurrentCalls: undefined,
    organizationId,
    provider: "ari",
    version: "1"
  }
  Object.assign(world, { configurations, definition, tools, services: { ...world.services, model: model.open, hearing: recognizer } })
  const facts: Array<CallFact> = []
  const conversations = Layer.succeed(CallConversations, {
    runTool: () => Effect.succeed<ToolAnswer>({ _tag: "Failed", reason: "Not here." }),
    record: () => (fact) => {
      facts.push(fact)
      world.conversation = { ...reportOf(facts), transcriptKey: undefined }
    }
  })
  const heard = () => {
    const audio = emulator.log.heard(callId)
    let frames = 0
    for (let at = 0; at + 160 <= audio.length; at += 160) if (!isNoise(audio.subarray(at, at + 160))) frames++
    return frames
  }
  const makes = (sound: Sound) => {
    const codes = encodeFrames(samplesOf(sound))
    emulator.speak(
      callee,
      Array.from({ length: codes.length / 160 }, (_, at) => Buffer.from(codes.subarray(at * 160, (at + 1) * 160)))
    )
  }
  const call: SpokenCall = {
    requests: model.requests,
    facts,
    makes,
    says: (sentence) => {
      recognizer.says(sentence)
      makes(calleeSays(sentence))
    },
    presses: (key) => emulator.press(callee, key),
    hangsUp: () => emulator.hangUp(callee),
    heard,
    untilHeard: (frames) => untilTrue(`${frames} frames of the agent's voice`, () => heard() >= frames),
    world,
    emulator
  }
  const voice = VoiceAgent.layerPacedBy(makeFramePacer()).pipe(Layer.provide(voicesWith(Files.layerLocal(folder))))
  await runLive(
    Effect.gen(function* () {
      yield* dial(world)
      yield* Effect.promise(() => act(call))
      yield* Effect.promise(() => until("recorded end", () => world.ends[0]))
    }).pipe(
      Effect.provide(layerOf(world, { DRAIN: "0", NODE_NAME: "spoken" }, voice).pipe(Layer.provide(conversations))),
      Effect.provide(egress({ first: organizationId }))
    )
  )
  return call
}

const dial = Effect.fnUntraced(function* (world: World) {
  const trunk = yield* (yield* TrunkPool).get(configurationId)
  if (trunk === undefined) return yield* Effect.die("no trunk")
  yield* Effect.promise(() => untilTrue("connected trunk", () => trunk.status()._tag === "Up"))
  const departure = (yield* CallRate).reserve([{ key: trunk.rateKey, rate: trunk.rate }])
  world.attempts.set(callId, { contact: world.contacts[0], dialEpoch: 1, state: "intent" })
  ;(yield* Slots).adopt(callId, [{ key: "organization:1", limit: 2 }])
  const attempt = { ...attemptIds, callId, campaign: undefined, initialContext: { first_name: "Ada" }, phoneNumber: callee }
  yield* (yield* CallSupervisor).start(attempt, trunk, { departure, marked: false, permit: { holds: () => true } }, {})
})
