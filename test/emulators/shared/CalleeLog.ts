/**
 * What the far end saw: every dial, ring, answer and end, in order. Tests judge by this log and not by what the engine says about itself.
 * A call is live from the accepted originate to its end.
 */

import { isLoud } from "#test/emulators/ari/Sound.ts"
import type { Talker } from "./Talker.ts"

/** Milliseconds since the epoch, with fractions. */
export const preciseNow = (): number => performance.timeOrigin + performance.now()

export type CalleeEntry = {
  /** On the clock of `preciseNow`; for an originate, when the request arrived. */
  readonly at: number
  readonly channelId: string
  readonly number: string
  readonly kind: "originate" | "ringing" | "answered" | "ended"
  readonly cause?: number
  /** The caller ID of an originate, if it has one. */
  readonly shown?: string
  /** Absent when Asterisk itself dropped the call: it crashed, or nobody was connected to take the answer. */
  readonly by?: "us" | "callee" | "timeout"
}

/** Frames are 20 ms of 8 kHz mu-law, 160 bytes. */
type AudioCount = {
  received: number
  receivedBytes: number
  /** Received frames that reached the callee: neither flushed nor dropped beyond the queue's limit. */
  played: number
  dropped: number
  /** Ticks after the first played frame without a frame to play: the callee hears a gap. */
  missed: number
  /** Ticks without a frame since the last one with one. */
  gap: number
  /** Ticks that did not happen because this process was stalled: the callee neither spoke nor heard meanwhile. */
  lost: number
  flushes: number
  sent: number
  lastPlayedAt?: number
  /** Played frames that are louder than noise. */
  loud: number
  /** When the first of them was played. */
  spokenAt?: number
}

const keptFrames = 60 * 50
const keptCalls = 100

/** The largest number of these times, in order, that lie in any window of that length. */
export const mostWithin = (times: ReadonlyArray<number>, windowMillis: number): number => {
  let most = 0
  let first = 0
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? time) >= windowMillis) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}

export class CalleeLog {
  entries: Array<CalleeEntry> = []
  #live = 0
  #mostLive = 0
  #longestGap = 0
  #audio = new Map<string, AudioCount>()
  #heard = new Map<string, Array<Buffer>>()
  #pressed = new Map<string, string>()
  /** When the engine confirmed that a carrier had ended the audio of a call. Kept for as long as the log. */
  readonly audioEnds = new Map<string, number>()
  /** Where the carrier has last opened a socket for the audio of a call. Kept for as long as the log. */
  readonly mediaUrls = new Map<string, string>()
  /**
   * Returns a callee who holds a conversation, in place of what the number would say. Called once for each call, when its audio begins. `press` presses a
   * key of the callee's phone.
   */
  talkerFor: (channelId: string, press: (digit: string) => void) => Pick<Talker, "next"> | undefined = () => undefined
  #talkers = new Map<string, Pick<Talker, "next"> | undefined>()

  record(entry: Omit<CalleeEntry, "at">, at = preciseNow()): void {
    if (entry.kind === "originate") this.#mostLive = Math.max(this.#mostLive, ++this.#live)
    if (entry.kind === "ended") this.#live -= 1
    this.entries.push({ at, ...entry })
  }

  /** Forgets everything except the number of live calls. */
  clear(): void {
    this.entries = []
    this.#mostLive = this.#live
    this.#audio.clear()
    this.#heard.clear()
    this.#pressed.clear()
    this.audioEnds.clear()
    this.mediaUrls.clear()
    this.#talkers.clear()
  }

  live(): number {
    return this.#live
  }

  mostLive(): number {
    return this.#mostLive
  }

  /** The entries of one channel or one number. */
  of(channelOrNumber: string): ReadonlyArray<CalleeEntry> {
    return this.entries.filter((entry) => entry.channelId === channelOrNumber || entry.number === channelOrNumber)
  }

  count(kind: CalleeEntry["kind"]): number {
    return this.entries.reduce((sum, entry) => (entry.kind === kind ? sum + 1 : sum), 0)
  }

  dialsByNumber(): Map<string, number> {
    const dials = new Map<string, number>()
    for (const { kind, number } of this.entries) if (kind === "originate") dials.set(number, (dials.get(number) ?? 0) + 1)
    return dials
  }

  /** For each end, in order, the milliseconds until the next originate that no earlier end has claimed: how long a freed slot was idle. */
  turnaroundMillis(): ReadonlyArray<number> {
    const ends: Array<number> = []
    const gaps: Array<number> = []
    let next = 0
    for (const { at, kind } of this.entries) {
      if (kind === "ended") ends.push(at)
      const end = ends[next]
      if (kind === "originate" && end !== undefined) {
        gaps.push(at - end)
        next += 1
      }
    }
    return gaps
  }

  /** The largest number of originates in any window of that length. */
  mostOriginatesIn(windowMillis = 1000): number {
    return mostWithin(
      this.entries.filter((entry) => entry.kind === "originate").map((entry) => entry.at),
      windowMillis
    )
  }

  /** The audio counters of a call, or of a media channel that is in no bridge. */
  audio(channelId: string): AudioCount {
    let count = this.#audio.get(channelId)
    if (count === undefined) {
      count = { received: 0, receivedBytes: 0, played: 0, dropped: 0, missed: 0, gap: 0, lost: 0, flushes: 0, sent: 0, loud: 0 }
      this.#audio.set(channelId, count)
    }
    return count
  }

  /** What the callee heard from us, in mu-law: the first minute, for the latest hundred calls. */
  heard(channelId: string): Buffer {
    return Buffer.concat(this.#heard.get(channelId) ?? [])
  }

  /** The played and missed frames of all calls, and the longest gap since this was asked last, in frames. */
  flow(): { readonly played: number; readonly missed: number; readonly longestGap: number } {
    const flow = { played: 0, missed: 0, longestGap: this.#longestGap }
    this.#longestGap = 0
    for (const { missed, played } of this.#audio.values()) {
      flow.played += played
      flow.missed += missed
    }
    return flow
  }

  /** When each callee first heard more than noise, on the clock of `preciseNow`. */
  firstSpoken(): ReadonlyArray<readonly [channelId: string, at: number]> {
    return [...this.#audio].flatMap(([channelId, { spokenAt }]) => (spokenAt === undefined ? [] : [[channelId, spokenAt] as const]))
  }

  /** The callee hears this frame in a tick. Undefined: there is none. */
  play(channelId: string, frame: Buffer | undefined): void {
    const audio = this.audio(channelId)
    if (frame === undefined) {
      if (audio.played === 0) return
      audio.missed += 1
      audio.gap += 1
      this.#longestGap = Math.max(this.#longestGap, audio.gap)
      return
    }
    audio.gap = 0
    audio.played += 1
    audio.lastPlayedAt = preciseNow()
    this.hear(channelId, frame)
  }

  hear(channelId: string, frame: Buffer): void {
    const audio = this.audio(channelId)
    if (isLoud(frame)) {
      audio.loud += 1
      audio.spokenAt ??= preciseNow()
    }
    let frames = this.#heard.get(channelId)
    if (frames === undefined) {
      const [oldest] = this.#heard.keys()
      if (this.#heard.size >= keptCalls && oldest !== undefined) this.#heard.delete(oldest)
      this.#heard.set(channelId, (frames = []))
    }
    if (frames.length < keptFrames) frames.push(frame)
  }

  talker(channelId: string, press: (digit: string) => void): Pick<Talker, "next"> | undefined {
    if (!this.#talkers.has(channelId)) this.#talkers.set(channelId, this.talkerFor(channelId, press))
    return this.#talkers.get(channelId)
  }

  /** The digits we sent to the callee. */
  pressed(channelId: string): string {
    return this.#pressed.get(channelId) ?? ""
  }

  press(channelId: string, digits: string): void {
    this.#pressed.set(channelId, this.pressed(channelId) + digits)
  }
}
