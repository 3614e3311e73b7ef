/** What a simulated callee says, frame by frame, depending on what it hears. */
import type { Answerer } from "./Callee.ts"
import { type Sound, type Sounds, silence } from "./sounds.ts"

export interface Talker {
  /** The next frame of 20 ms. `hears`: whether the agent is speaking in the frame that the callee hears meanwhile. */
  readonly next: (hears: boolean) => Uint8Array
}

/** In frames of 20 ms, like all numbers here: the pause after picking up. */
const BEFORE_HELLO = 20
/** How much the agent must have said, and how long it must then be silent, to get a reply. */
const LEAST_SAID = 10
const TURN_PAUSE = 35
/** Keys are pressed by then, even if the agent says nothing. */
const LATEST_KEYS = 150

/** `press`: presses the callee's keys. */
export const makeTalker = (as: Answerer, sounds: Sounds, press: () => void): Talker => {
  if (as === "tone") return { next: () => sounds.steady[0] ?? silence }
  return new Listener(
    as === "machine" ? sounds.greeting : sounds.hello,
    replyOf(as, sounds, press),
    as === "keypad" ? LATEST_KEYS : undefined
  )
}

/** What the callee does when the agent has spoken and is waiting. */
const replyOf = (as: Answerer, { reply }: Sounds, press: () => void): (() => Sound) => {
  if (as === "machine") return () => []
  let hasPressed = as !== "keypad"
  return () => {
    if (hasPressed) return reply
    hasPressed = true
    press()
    return []
  }
}

class Listener implements Talker {
  readonly #opening: Sound
  readonly #reply: () => Sound
  /** When the first reply is made at the latest; undefined if it waits for the agent. */
  #latest: number | undefined
  #heard = 0
  #said = 0
  #paused = 0
  #saying: Sound = []
  #at = 0

  constructor(opening: Sound, reply: () => Sound, latest: number | undefined) {
    this.#opening = opening
    this.#reply = reply
    this.#latest = latest
  }

  next(hears: boolean): Uint8Array {
    this.#heard += 1
    if (hears) this.#said += 1
    this.#paused = hears ? 0 : this.#paused + 1
    if (this.#heard === BEFORE_HELLO) this.#say(this.#opening)
    else if (this.#at >= this.#saying.length && this.#isAsked()) {
      this.#said = 0
      this.#latest = undefined
      this.#say(this.#reply())
    }
    return this.#saying[this.#at++] ?? silence
  }

  #isAsked(): boolean {
    if (this.#said >= LEAST_SAID && this.#paused >= TURN_PAUSE) return true
    return this.#latest !== undefined && this.#heard >= this.#latest
  }

  #say(sound: Sound): void {
    this.#saying = sound
    this.#at = 0
  }
}
