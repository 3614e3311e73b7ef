/**
 * The callee's side of a conversation on the media plane: from its frames to its turns, and to interruptions of the agent. It holds what the pure
 * machines of `core/voice` decide on, and carries out what cannot wait for a fiber: to silence the agent, and to go on. Plain callbacks; nothing is
 * allocated for a frame in which nothing changes.
 */
import type { ConversationEvent } from "#core/agent/conversation/ConversationState.ts"
import { makeEchoMeter } from "#core/audio/EchoMeter.ts"
import { makeEnergyGate } from "#core/audio/EnergyGate.ts"
import { frameSize } from "#core/audio/Mulaw.ts"
import { levelOfCodes, type PcmFrame } from "#core/audio/PcmFrame.ts"
import { makeVoiceActivity } from "#core/audio/VoiceActivity.ts"
import type { Pause } from "#core/model/EndOfTurn.ts"
import type { RecognizerEvent, RecognizerSession } from "#core/model/SpeechToText.ts"
import { type BargeInEvent, type BargeInRules, holdUntil, initialBargeIn, nextBargeIn } from "#core/voice/BargeIn.ts"
import {
  deadlineOf,
  forgetTurn,
  initialTurn,
  isAwaited,
  isStale,
  nextTurn,
  type TurnCommand,
  type TurnEvent,
  type TurnOptions
} from "#core/voice/Turn.ts"
import type { FrameListener } from "./FrameListener.ts"
import { makeVoiceDetector } from "./FvadWasm.ts"
import type { Played, Playout } from "./Playout.ts"

const silence = new Int16Array(frameSize)
/** People answer a question before its last word is over. */
const endingMillis = 800
/** After a key is noticed, its tones go on for about as long. */
const keyMillis = 300

/** After this the callee hears that they have to wait. */
const longMillis = 2500

const nothingSaid = { before: "", last: "" }

type Commit = Extract<TurnCommand, { readonly _tag: "Commit" }>

interface TurnTakingEvents {
  /**
   * `CalleeStarted`: the callee has begun to speak, while the agent is silent or because it was interrupted. `committed` follows, or an empty `CalleeTurn`: it
   * was no speech, or it did not interrupt the agent, which has begun to speak meanwhile. `CalleeWaits`: they have finished for all that is known, and it takes
   * long to transcribe what they said; told once of a pause.
   */
  readonly tell: (event: Extract<ConversationEvent, { readonly _tag: "CalleeStarted" | "CalleeTurn" | "CalleeWaits" }>) => void
  /** An answer may be generated, but nothing of it spoken or done before the commit. */
  readonly speculate: (text: string) => void
  readonly cancelSpeculation: () => void
  /** The callee has finished. Times are the pacer's milliseconds. */
  readonly committed: (turn: Commit) => void
  /** The agent has been silenced; this is what the callee has heard of it. Speech that is still made for it is dropped by its epoch. */
  readonly interrupted: (played: Played | undefined) => void
}

interface TurnTakingOptions {
  readonly now: () => number
  readonly playout: Playout
  readonly recognizer: Pick<RecognizerSession, "finalize" | "settle" | "write"> & { readonly manner: () => TurnOptions }
  /** Of the present node; asked for each decision. */
  readonly rules: () => BargeInRules
  /** Tells `judged`, at once or later, how likely it is that a callee who has said this in a turn begun `from` has finished. */
  readonly judge: (said: Pick<Pause, "isAnswer" | "text">, from: number, judged: (probability: number) => void) => void
}

type Understood = Omit<Extract<TurnEvent, { readonly _tag: "Transcribed" }>, "_tag" | "at">

export class TurnTaking implements FrameListener {
  readonly #options: TurnTakingOptions
  readonly #events: TurnTakingEvents
  readonly #echo = makeEchoMeter()
  readonly #detector = makeVoiceDetector()
  readonly #activity = makeVoiceActivity({
    isVoice: (samples) => this.#detector.isVoice(samples),
    gate: makeEnergyGate(),
    echo: this.#echo,
    isInterrupting: () => this.#isAgentSpeaking
  })
  #turn = initialTurn
  #bargeIn = initialBargeIn
  #isAgentSpeaking = false
  #isVoiced = false
  /** The agent is speaking, and must not be interrupted: nothing that is said now counts, then or later. */
  #isProtected = false
  /** What was understood while the agent spoke; the last final text may be replaced. */
  #saidOver = nothingSaid
  /** Set if the last thing understood was one of the expected answers. */
  #answer: string | undefined
  /** `CalleeStarted` has been told, and not yet what has become of it. */
  #isStarted = false
  /** The pause of which `CalleeWaits` was told last, in this turn: what the agent says meanwhile is no answer to it. */
  #longPause: number | undefined
  /** Until then a key is heard. */
  #keyedUntil = Number.NEGATIVE_INFINITY

  constructor(options: TurnTakingOptions, events: TurnTakingEvents) {
    this.#options = options
    this.#events = events
  }

  hear(frame: PcmFrame): void {
    const change = this.#activity.push(frame)
    const now = this.#options.now()
    const isDeaf = this.#isProtected || now < this.#keyedUntil
    const isTurning = change !== undefined && change !== "ended"
    if (isTurning) this.#isVoiced = change !== "paused"
    // Silence instead of nothing: services close a stream that stops, and some end no turn without it.
    if (isDeaf) this.#options.recognizer.write(silence, false)
    else this.#options.recognizer.write(frame.samples, this.#isVoiced)
    if (isDeaf || !isTurning) return
    const since = now - this.#activity.changedMillisAgo()
    if (change === "paused") {
      this.#tellBargeIn({ _tag: "VoicePaused", at: now })
      this.#tellTurn({ _tag: "VoicePaused", at: now, since })
    } else this.#voice(now, since)
  }

  tick(now: number, sent: Uint8Array, heard: PcmFrame | undefined): void {
    this.#echo.push(levelOfCodes(sent), heard?.level ?? 0)
    this.#followAgent(now)
    const heldUntil = holdUntil(this.#bargeIn)
    if (heldUntil !== undefined && now >= heldUntil) this.#tellBargeIn({ _tag: "Passed", at: now })
    this.#tellWait(now)
    const deadline = deadlineOf(this.#turn, this.#options.recognizer.manner())
    if (deadline !== undefined && now >= deadline) this.#tellTurn({ _tag: "Passed", at: now })
  }

  close(): void {
    this.#detector.free()
  }

  /** What the recognizer tells. */
  understood(event: RecognizerEvent): void {
    const at = this.#options.now()
    switch (event._tag) {
      case "Partial":
        return this.#text(at, { text: event.text, isFinal: false, isForced: false })
      case "Final":
        if (event.text !== "") this.#answer = event.isAnswer ? event.text.trim() : undefined
        return this.#text(at, {
          text: event.text,
          isFinal: true,
          isForced: event.isForced,
          isUnclear: event.isUnclear === true,
          replaces: event.replaces === true
        })
      case "EndForeseen":
      case "EndDeclared":
        this.#tellBargeIn({ _tag: "Understood", at, text: event.text, isLast: event._tag === "EndDeclared" })
        return this.#tellTurn({ _tag: event._tag, at, text: event.text })
      case "EndRevoked":
        return this.#tellTurn({ _tag: "EndRevoked", at })
      case "Failed":
        return this.#forget(at)
    }
  }

  /** The callee presses a key: neither its tones nor what was being said is a turn. */
  keyed(): void {
    const now = this.#options.now()
    this.#keyedUntil = now + keyMillis
    this.#forget(now)
  }

  #voice(at: number, since: number): void {
    this.#tellBargeIn({ _tag: "VoiceStarted", at })
    this.#tellTurn({ _tag: "VoiceStarted", at: since })
  }

  #text(at: number, understood: Understood): void {
    const { isFinal, isForced, replaces = false, text } = understood
    // It must not silence the agent either, which would then wait for a turn that does not follow.
    if (isStale(this.#turn, at)) return this.#tellTurn({ _tag: "Transcribed", at, ...understood })
    const { before, last } = this.#saidOver
    const standing = replaces ? before : `${before} ${last}`.trim()
    const said = `${standing} ${text}`.trim()
    if (isFinal && this.#isAgentSpeaking && text !== "") this.#saidOver = { before: standing, last: text }
    // First: it decides whether this is part of a turn.
    const isNone = this.#tellBargeIn({ _tag: "Understood", at, text: said, isLast: isForced })
    this.#tellTurn({ _tag: "Transcribed", at, ...understood })
    if (isNone && this.#longPause === undefined) this.#forget(at)
  }

  /** Follows the agent from its first frame to the last that the callee hears. */
  #followAgent(now: number): void {
    const { playout, rules } = this.#options
    const isSpeaking = playout.isUnheard()
    if (isSpeaking !== this.#isAgentSpeaking) {
      this.#isAgentSpeaking = isSpeaking
      this.#saidOver = nothingSaid
      this.#tellBargeIn({ _tag: isSpeaking ? "AgentStarted" : "AgentFinished", at: now })
      // It may have been paused after its last sample.
      if (!isSpeaking) playout.resume()
    }
    const wasProtected = this.#isProtected
    this.#isProtected = isSpeaking && !rules().allowInterrupt
    if (this.#isProtected && !wasProtected) this.#forget(now)
    if (wasProtected && !this.#isProtected && this.#isVoiced) this.#voice(now, now)
  }

  /** Whether what was said is no turn. */
  #tellBargeIn(event: BargeInEvent): boolean {
    const { playout, rules } = this.#options
    const isEnding = playout.leftMillis() <= endingMillis
    const situation = this.#longPause !== undefined ? { ...rules(), isEnding: true, minWords: 1 } : { ...rules(), isEnding }
    const { commands, state } = nextBargeIn(this.#bargeIn, event, situation)
    this.#bargeIn = state
    for (const command of commands) {
      if (command === "Pause") playout.pause()
      if (command === "Resume") playout.resume()
      if (command === "Interrupt") this.#interrupt()
    }
    const isNone = commands.includes("Resume") || commands.includes("Disregard")
    if (isNone) this.#saidOver = nothingSaid
    // A slow recognizer may still find words in it, and they interrupt even then; so do those that the callee still says after an assent.
    if (isNone && event._tag === "Passed" && !this.#isVoiced && !isAwaited(this.#turn)) this.#forget(event.at)
    this.#tellStart()
    return isNone
  }

  #interrupt(): void {
    const played = this.#options.playout.stop()
    this.#isAgentSpeaking = false
    this.#saidOver = nothingSaid
    this.#events.interrupted(played)
  }

  #forget(at: number): void {
    this.#take(forgetTurn(this.#turn, at))
  }

  #tellTurn(event: TurnEvent): void {
    this.#take(nextTurn(this.#turn, event, this.#options.recognizer.manner()))
  }

  #take({ commands, state }: ReturnType<typeof nextTurn>): void {
    const isOver = this.#turn._tag !== "Idle" && state._tag === "Idle"
    this.#turn = state
    if (isOver) this.#options.recognizer.settle?.()
    for (const command of commands) this.#perform(command)
    if (this.#turn._tag !== "Idle") return this.#tellStart()
    this.#longPause = undefined
    if (!this.#isStarted) return
    this.#isStarted = false
    this.#events.tell({ _tag: "CalleeTurn", text: "" })
  }

  #tellStart(): void {
    if (this.#isStarted || this.#turn._tag === "Idle" || this.#bargeIn._tag !== "Silent") return
    this.#isStarted = true
    this.#events.tell({ _tag: "CalleeStarted" })
  }

  #tellWait(now: number): void {
    if (!this.#isStarted || this.#isAgentSpeaking || this.#turn._tag !== "Waiting") return
    const { since } = this.#turn
    if (since === this.#longPause || now - since < longMillis) return
    this.#longPause = since
    this.#events.tell({ _tag: "CalleeWaits" })
  }

  #commit(turn: Commit): void {
    this.#isStarted = false
    this.#events.committed(turn)
  }

  #perform(command: TurnCommand): void {
    if (command._tag === "Finalize") return this.#options.recognizer.finalize()
    if (command._tag === "CancelSpeculation") return this.#events.cancelSpeculation()
    // While the agent speaks, nothing that is said over it is a turn, unless it interrupts.
    if (this.#bargeIn._tag !== "Silent" && this.#longPause === undefined) return
    if (command._tag === "Judge") return this.#judge(command.text, command.revision)
    if (command._tag === "Speculate") return this.#events.speculate(command.text)
    if (command._tag === "Commit") this.#commit(command)
  }

  #judge(text: string, revision: number): void {
    const from = this.#turn._tag === "Idle" ? this.#options.now() : this.#turn.turn.from
    const isAnswer = this.#answer !== undefined && text.endsWith(this.#answer)
    this.#options.judge({ text, isAnswer }, from, (probability) =>
      this.#tellTurn({ _tag: "Judged", at: this.#options.now(), revision, probability })
    )
  }
}
