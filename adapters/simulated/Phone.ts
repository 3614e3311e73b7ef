/**
 * One call to a simulated phone:
 *     dialed --> ringing --> up --> over
 * It may be over at any time. Nothing happens by itself: `run` does what is due.
 */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { type Answerer, calleeOf, type Callee } from "./Callee.ts"
import { PhoneAudio } from "./PhoneAudio.ts"
import type { Sounds } from "./sounds.ts"
import { makeTalker, type Talker } from "./Talker.ts"

export interface PhoneSettings {
  readonly answerPercent: number
  readonly ringMillis: number
  /** How long a person stays after having heard the agent for the first time. */
  readonly talkMillis: number
}

/** What the callee's side sees of a call. A frame's memory is reused. */
export type Seen =
  | { readonly _tag: "Dialed" | "Ringing" | "Answered" }
  | { readonly _tag: "Heard"; readonly frame: Uint8Array }
  | { readonly _tag: "Pressed"; readonly digits: string }
  | { readonly _tag: "Over"; readonly by: "us" | "callee" | "timeout" }

interface Hooks {
  readonly report: (event: TrunkEvent) => void
  readonly watch: ((seen: Seen) => void) | undefined
}

/** A person who hears nobody hangs up. */
const PATIENCE_MILLIS = 10_000
const LEAVES_AFTER_MILLIS = 1_000
/** How long a machine records, from the answer on. */
const MACHINE_MILLIS = 60_000
const KEYS = "1234#"

export class Phone {
  state: "dialed" | "ringing" | "up" | "over" = "dialed"
  readonly #settings: PhoneSettings
  readonly #request: OriginateRequest
  readonly #sounds: Sounds
  readonly #hooks: Hooks
  readonly #callee: Callee
  /** What the callee or the network does next. */
  #next: (now: SteadyMillis) => void
  #nextAt: SteadyMillis
  /** When the call is given up: while it rings, and later for its length. */
  #limitAt: SteadyMillis
  #talker: Talker | undefined
  #audio: PhoneAudio | undefined
  /** How long a person stays once it hears the agent; undefined for others, and once it does. */
  #staysFor: number | undefined

  constructor(now: SteadyMillis, request: OriginateRequest, settings: PhoneSettings, sounds: Sounds, hooks: Hooks) {
    this.#settings = settings
    this.#request = request
    this.#sounds = sounds
    this.#hooks = hooks
    this.#callee = calleeOf(request.to, settings.answerPercent)
    this.#next = (at) => this.#reached(at)
    this.#nextAt = now
    this.#limitAt = now + request.ringTimeoutSeconds * 1_000
    hooks.watch?.({ _tag: "Dialed" })
  }

  /** Returns when it is to be called again. */
  run(now: SteadyMillis): SteadyMillis {
    // A step may be due as soon as the one before it has been taken.
    while (this.state !== "over" && now >= this.#nextAt) {
      const next = this.#next
      this.#nextAt = Number.POSITIVE_INFINITY
      next(now)
    }
    if (this.state !== "over" && now >= this.#limitAt) this.#end(this.state === "up" ? "duration_exceeded" : "ring_timeout", "timeout")
    if (this.state === "up") this.#audio?.run(now)
    return Math.min(this.#nextAt, this.#limitAt, this.#audio?.dueAt ?? Number.POSITIVE_INFINITY)
  }

  hangUp(cause: HangupCause): void {
    if (this.state !== "over") this.#end(cause, "us")
  }

  press(digits: string): void {
    this.#hooks.watch?.({ _tag: "Pressed", digits })
  }

  /** Undefined unless the call is up. A second stream replaces the first. */
  openAudio(now: SteadyMillis): PhoneAudio | undefined {
    const talker = this.#talker
    if (this.state !== "up" || talker === undefined) return undefined
    this.#audio?.close("replaced", "the audio was opened again")
    this.#audio = new PhoneAudio(now, talker, (frame, isSpeech, at) => {
      this.#hooks.watch?.({ _tag: "Heard", frame })
      if (isSpeech) this.#hear(at)
    })
    return this.#audio
  }

  closeAudio(audio: PhoneAudio): void {
    if (this.#audio === audio) this.#audio = undefined
  }

  /** Its trunk is closed, and the phone with it. */
  vanish(): void {
    this.state = "over"
    this.#audio?.close("unknown", "the trunk was closed")
  }

  #after(now: SteadyMillis, millis: number, next: (now: SteadyMillis) => void): void {
    this.#nextAt = now + millis
    this.#next = next
  }

  /** The network has replied. */
  #reached(now: SteadyMillis): void {
    const callee = this.#callee
    if (callee._tag === "Ends" && !callee.rings) return this.#end(callee.cause, "callee")
    this.state = "ringing"
    this.#hooks.watch?.({ _tag: "Ringing" })
    this.#hooks.report({ _tag: "Rang" })
    const { ringMillis } = this.#settings
    if (callee._tag === "Ends") this.#after(now, ringMillis, () => this.#end(callee.cause, "callee"))
    else if (callee._tag === "Answers") this.#after(now, ringMillis, (at) => this.#answer(at, callee.as))
  }

  #answer(now: SteadyMillis, as: Answerer): void {
    this.state = "up"
    this.#limitAt = now + this.#request.maxDurationSeconds * 1_000
    this.#talker = makeTalker(as, this.#sounds, () => this.#pressKeys())
    const leaves = (cause: HangupCause) => () => this.#end(cause, "callee")
    if (as === "leaver") this.#after(now, LEAVES_AFTER_MILLIS, leaves("normal_clearing"))
    else if (as === "broken") this.#after(now, LEAVES_AFTER_MILLIS, leaves("network_out_of_order"))
    else if (as === "machine") this.#after(now, MACHINE_MILLIS, leaves("normal_clearing"))
    else if (as !== "tone") {
      this.#staysFor = this.#settings.talkMillis
      this.#after(now, PATIENCE_MILLIS, leaves("normal_clearing"))
    }
    this.#hooks.watch?.({ _tag: "Answered" })
    this.#hooks.report({ _tag: "Answered" })
  }

  #hear(now: SteadyMillis): void {
    if (this.#staysFor === undefined) return
    this.#after(now, this.#staysFor, () => this.#end("normal_clearing", "callee"))
    this.#staysFor = undefined
  }

  #pressKeys(): void {
    for (const digit of KEYS) this.#hooks.report({ _tag: "Dtmf", digit })
  }

  #end(cause: HangupCause, by: "us" | "callee" | "timeout"): void {
    this.state = "over"
    this.#hooks.watch?.({ _tag: "Over", by })
    this.#hooks.report({ _tag: "HungUp", cause })
    this.#audio?.close("ended", "the call is over")
  }
}
