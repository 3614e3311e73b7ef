/**
 * One call whose services fail as a seed decides, and what its callee heard. Time is simulated: the frames of the call are processed one by
 * one, and the call waits for everything that happens in between, so that nothing depends on the speed of the machine.
 */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect, Fiber, Layer } from "effect"
import { decode, frameMillis, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import { CallClock } from "#runtime/conversation/CallClock.ts"
import { Files } from "#runtime/storage/Files.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { announcements, faultyModel, faultyRecognizer, faultySpeech, faultyTool, isAnnouncement, type Trouble } from "./faultyServices.ts"
import { untilTrue } from "./until.ts"
import { runLive } from "./run.ts"
import { seeded } from "./seeded.ts"
import { codesOf } from "./sound.ts"
import { planOf, storedTool, talkStart, toolUuid } from "./talk.ts"
import { calleeSays, talking, type TalkScene } from "./talkScene.ts"
import { definition } from "./talkScript.ts"
import { isNoise, loopback, voicesWith } from "./voiceScene.ts"

export const maxCallSeconds = 30
const extraction = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string" }] }
const node = { tool_uuids: [toolUuid(1)], ...extraction }
const plan = planOf(
  definition({ greeting: "Good morning, how are you?", ...node }, node, { transition_speech: announcements.transition }),
  { max_call_duration: maxCallSeconds, max_user_idle_timeout: 5, static_lines: { filler: announcements.filler } },
  [storedTool(1, "Look up", { type: "http_api", config: { method: "GET", url: "https://a.example/", customMessage: announcements.tool } })]
)

interface Spoken {
  readonly text: string
  /** In milliseconds since the start of the call. */
  readonly from: number
  readonly samples: Int16Array
}

/** A silence after the callee has spoken, or while they wait for the agent to continue. */
interface Silence {
  readonly until: number
  readonly millis: number
}
/** Together with the frame of the next tick, this is as much of the callee's audio as a recording waits for. */
const mostStalledFrames = 9
export const mostStalledMillis = mostStalledFrames * frameMillis

/** The recording of the last call in this folder. */
export const recordingIn = (folder: string): string => join(folder, "recordings/7.wav")
/** More than a recording holds in memory, besides what is being written. */
const unwrittenMillis = 1500
/** The rate of two channels of 16 bits. */
const recordedBytesPerMillis = (sampleRate * 4) / 1000

/** More than a conversation waits for its last variables. */
const mostConcludingMillis = 60_000
/** Sentences without a pause, because after a pause the scripted recognizer would understand nothing. */
const sentences = ["Yes, I would like that.", "Wait a minute, please."] as const
const farewell = "Please do not call me again."
const quiet = new Uint8Array(frameSize).fill(silence)
const codes = new Map([...sentences, farewell, "Uh huh."].map((sentence) => [sentence, codesOf(calleeSays(sentence))]))

/** Waits for everything that only needs its turn of the event loop. */
const settled = async () => {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface Line {
  readonly step: (codes: Uint8Array) => void
  readonly stallOver: (frames: ReadonlyArray<Uint8Array>) => void
  readonly heard: ReadonlyArray<Uint8Array>
}

const isFarewell = (said: string): boolean => /^farewell| of (?:bye|sorry) |Goodbye/.test(said)

/** The callee's side of the call. */
class Callee {
  readonly silences: Array<Silence> = []
  /** What happened when, for debugging. */
  readonly story: Array<string> = []
  /** What the callee said, completely or until the call was over. */
  readonly spoken: Array<Spoken> = []
  readonly #chance: () => number
  readonly #line: Line
  readonly #textOf: (frame: Uint8Array) => string | undefined
  readonly #scene: TalkScene
  #saying: Uint8Array = quiet.subarray(0, 0)
  #isAssent = false
  #isLeaving = false
  #heard = 0
  #silentFrames = 0
  /** Whether it is the agent's turn to say something. */
  isOwed = true
  #last = ""
  #patience: number
  now = 0

  constructor(scene: TalkScene, line: Line, chance: () => number, textOf: (frame: Uint8Array) => string | undefined) {
    this.#scene = scene
    this.#line = line
    this.#chance = chance
    this.#textOf = textOf
    this.#patience = 600
  }

  /** Advances the call by 20 ms. */
  frame(): void {
    if (this.#saying.length === 0) this.#act()
    const next = this.#next()
    this.#line.step(next)
    this.now += frameMillis
    const frame = this.#line.heard.length > this.#heard ? this.#line.heard[this.#heard++] : undefined
    const isAudible = frame !== undefined && !isNoise(frame)
    if (isAudible) this.#hear(frame)
    if (next !== quiet) {
      this.stop()
      if (!this.#isAssent) this.isOwed = true
    } else if (!isAudible) this.#silentFrames++
  }

  /** Advances the callee's side while the engine is stalled. */
  stall(frames: number): void {
    this.#line.stallOver(Array.from({ length: frames }, () => this.#next()))
    this.now += frames * frameMillis
  }

  #next(): Uint8Array {
    const next = this.#saying.length >= frameSize ? this.#saying.subarray(0, frameSize) : quiet
    this.#saying = this.#saying.subarray(next === quiet ? this.#saying.length : frameSize)
    return next
  }

  #hear(frame: Uint8Array): void {
    this.stop()
    const text = this.#textOf(frame)
    if (text !== undefined && text !== this.#last) this.story.push(`${this.now} agent: ${text}`)
    this.#last = text ?? this.#last
    this.isOwed = isAnnouncement(this.#last)
  }

  /** Ends a silence, or the call. */
  stop(): void {
    if (this.isOwed) this.silences.push({ until: this.now, millis: this.#silentFrames * frameMillis })
    this.#silentFrames = 0
  }

  #act(): void {
    const silentMillis = this.#silentFrames * frameMillis
    if (this.isOwed || this.#isLeaving || isFarewell(this.#last)) return
    if (silentMillis === 0) {
      if (this.#chance() < 0.002) this.#say(this.#chance() < 0.5 ? "Uh huh." : sentences[1])
      return
    }
    if (silentMillis < this.#patience) return
    this.#patience = this.#chance() < 0.1 ? 60_000 : 300 + this.#chance() * 1500
    if (this.#chance() < 0.15) return this.#press()
    this.#say(this.#chance() < 0.03 ? farewell : this.#chance() < 0.5 ? sentences[0] : sentences[1])
  }

  #press(): void {
    this.story.push(`${this.now} callee presses 1`)
    this.#scene.session.dtmf("1", talkStart + this.now)
    this.isOwed = true
    this.#silentFrames = 0
  }

  #say(sentence: string): void {
    this.story.push(`${this.now} callee: ${sentence}`)
    this.#isLeaving ||= sentence === farewell
    this.#isAssent = sentence === "Uh huh."
    this.#scene.recognizer.says(sentence)
    this.#saying = codes.get(sentence) ?? quiet
    this.spoken.push({
      text: sentence,
      from: this.now,
      samples: decode(this.#saying.subarray(0, this.#saying.length - (this.#saying.length % frameSize)))
    })
  }
}

const troubleOf = (chance: () => number): Trouble => {
  const some = () => (chance() < 0.5 ? 0 : chance() * 0.8)
  return { model: some(), recognizer: some(), speech: some(), tool: chance() }
}

interface TalkOptions {
  /** Whether the call is recorded into the folder. */
  readonly record?: boolean
  /** Whether the engine stalls, in one frame out of a hundred. */
  readonly stalls?: boolean
  readonly lag?: Parameters<typeof loopback>[0]
}

export const faultyTalk = (seed: number, folder: string, { lag = 2, record = false, stalls = false }: TalkOptions = {}) => {
  const chance = seeded(seed)
  const trouble = troubleOf(chance)
  const clock = new CallClock(talkStart)
  const line = loopback(lag)
  const speech = faultySpeech(chance, trouble.speech)
  const hearing = faultyRecognizer(chance, trouble.recognizer)
  const endsAt = chance() < 0.4 ? chance() * maxCallSeconds * 1000 : Number.POSITIVE_INFINITY
  const isMediaLost = chance() < 0.3
  const call = Effect.gen(function* () {
    const scene = yield* talking(line, {
      plan,
      script: () => "hangs",
      voice: { record },
      model: Effect.succeed(faultyModel(chance, trouble.model)),
      hearing: (recognizer) => ({ ...hearing, ...recognizer, open: hearing.open }),
      verbs: { runTool: () => faultyTool(chance, trouble.tool) }
    })
    const told = { ...scene, recognizer: hearing }
    const callee = new Callee(told, line, chance, (frame) => speech.sentenceIn(frame).text)
    const ends = () => scene.events.filter(({ _tag }) => _tag === "EndWanted").length
    const isOver = () => ends() > 0 || scene.events.some(({ _tag }) => _tag === "MediaClosed")
    let writtenAt = 0
    yield* Effect.promise(async () => {
      while (!isOver() && callee.now < endsAt && callee.now < (maxCallSeconds + 10) * 1000) {
        callee.frame()
        if (record && callee.now >= writtenAt + 1000) await writtenUntil((writtenAt = callee.now), folder)
        if (stalls && chance() < 0.01) callee.stall(1 + Math.floor(chance() * mostStalledFrames))
        await settled()
        await pass(clock, talkStart + callee.now)
        if (isMediaLost && callee.now >= endsAt) line.end("the carrier closed it")
      }
    })
    callee.stop()
    /** When the agent ended the call. Undefined if the callee or the carrier did. */
    const endedAt = ends() > 0 ? callee.now : undefined
    const finishing = yield* Effect.forkChild(scene.session.finish, { startImmediately: true })
    yield* Effect.promise(async () => {
      // The call's time stands still while the files are closed, however long the disk takes.
      for (let waited = 0; waited < mostConcludingMillis && !scene.hasConcluded(); waited += 100) {
        await pass(clock, talkStart + callee.now + waited)
        await settled()
      }
    })
    yield* Fiber.join(finishing)
    const { now: millis, silences, spoken, story } = callee
    return { seed, silences, spoken, story, facts: scene.facts, endedAt, ends: ends(), millis, sentenceIn: speech.sentenceIn }
  })
  const voice = VoiceAgent.layerPacedBy(line.pacer).pipe(Layer.provide(voicesWith(Files.layerLocal(folder), { tts: speech.layer })))
  return runLive(call.pipe(Effect.provide(voice), Effect.provideService(Clock.Clock, clock)))
}

export type FaultyTalk = Awaited<ReturnType<typeof faultyTalk>>

/** Simulated calls are faster than the disk, and a recording leaves out what it has no time to write. */
const writtenUntil = (millis: number, folder: string) =>
  untilTrue("a recording on the disk", async () => {
    const size = await stat(recordingIn(folder)).then(
      (file) => file.size,
      () => 0
    )
    return size >= (millis - unwrittenMillis) * recordedBytesPerMillis
  })

const pass = async (clock: CallClock, until: number) => {
  while (clock.next !== undefined && clock.next <= until) {
    clock.moveTo(until)
    await settled()
  }
  clock.moveTo(until)
}
