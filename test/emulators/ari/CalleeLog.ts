/**
 * What the far end saw: every dial, ring, answer and end, in order. Tests judge by this and not by what the engine says of itself.
 * A call is live from the accepted originate to its end.
 */

/** Milliseconds since the epoch, with fractions. */
export const preciseNow = (): number => performance.timeOrigin + performance.now()

export type CalleeEntry = {
  /** As `preciseNow` tells it; an originate's is when the request came in. */
  readonly at: number
  readonly channelId: string
  readonly number: string
  readonly kind: "originate" | "ringing" | "answered" | "ended"
  readonly cause?: number
  /** The caller id of an originate, if it has one. */
  readonly shown?: string
  /** Absent when Asterisk itself let go of the call: it crashed, or nobody was there to take the answer. */
  readonly by?: "us" | "callee" | "timeout"
}

/** Frames are 20 ms of 8 kHz mu-law, 160 bytes. */
type AudioCount = {
  received: number
  receivedBytes: number
  /** Of those received, how many reached the callee: not flushed, not dropped over the queue's limit. */
  played: number
  dropped: number
  /** Ticks since the first frame that was played, at which there was none to play: the callee hears a gap. */
  missed: number
  flushes: number
  sent: number
  lastPlayedAt?: number
  /** When the first frame was played that is louder than noise. */
  spokenAt?: number
}

/** Of mu-law: from -38 dB of full scale on, three times as loud as the engine's noise ever is, and the beginning of a soft consonant. */
const isLoud = (frame: Buffer): boolean => frame.some((code) => (code & 0x7f) < 0x60)

const keptFrames = 60 * 50
const keptCalls = 100

export class CalleeLog {
  entries: Array<CalleeEntry> = []
  #live = 0
  #mostLive = 0
  #audio = new Map<string, AudioCount>()
  #heard = new Map<string, Array<Buffer>>()
  #pressed = new Map<string, string>()

  record(entry: Omit<CalleeEntry, "at">, at = preciseNow()): void {
    if (entry.kind === "originate") this.#mostLive = Math.max(this.#mostLive, ++this.#live)
    if (entry.kind === "ended") this.#live -= 1
    this.entries.push({ at, ...entry })
  }

  /** Forgets all but the calls that are live now. */
  clear(): void {
    this.entries = []
    this.#mostLive = this.#live
    this.#audio.clear()
    this.#heard.clear()
    this.#pressed.clear()
  }

  live(): number {
    return this.#live
  }

  mostLive(): number {
    return this.#mostLive
  }

  /** One channel's or one number's entries. */
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

  /** For each end, in order, the milliseconds until the next originate that no earlier end has claimed: how long a freed slot lay idle. */
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

  /** The most originates in any window of that length. */
  mostOriginatesIn(windowMillis = 1000): number {
    const at = this.entries.filter((entry) => entry.kind === "originate").map((entry) => entry.at)
    let most = 0
    let first = 0
    for (const [index, time] of at.entries()) {
      while (time - (at[first] ?? time) >= windowMillis) first += 1
      most = Math.max(most, index - first + 1)
    }
    return most
  }

  /**
   * The most in a second, where a busy machine may have brought some closer together on their way by a fifth of one. The bench `rate` measures
   * without that allowance.
   */
  mostInASecond(): number {
    return this.mostOriginatesIn(800)
  }

  /** Counts of a call's audio, or of a media channel's that is in no bridge. */
  audio(channelId: string): AudioCount {
    let count = this.#audio.get(channelId)
    if (count === undefined) {
      count = { received: 0, receivedBytes: 0, played: 0, dropped: 0, missed: 0, flushes: 0, sent: 0 }
      this.#audio.set(channelId, count)
    }
    return count
  }

  /** What the callee heard of us, mu-law: the first minute, of the latest hundred calls. */
  heard(channelId: string): Buffer {
    return Buffer.concat(this.#heard.get(channelId) ?? [])
  }

  /** Frames of all calls that were played, and that were missed. */
  flow(): { readonly played: number; readonly missed: number } {
    const flow = { played: 0, missed: 0 }
    for (const { missed, played } of this.#audio.values()) {
      flow.played += played
      flow.missed += missed
    }
    return flow
  }

  /** When each callee first heard more than noise, as `preciseNow` tells it. */
  firstSpoken(): ReadonlyArray<readonly [channelId: string, at: number]> {
    return [...this.#audio].flatMap(([channelId, { spokenAt }]) => (spokenAt === undefined ? [] : [[channelId, spokenAt] as const]))
  }

  hear(channelId: string, frame: Buffer): void {
    const audio = this.audio(channelId)
    if (audio.spokenAt === undefined && isLoud(frame)) audio.spokenAt = preciseNow()
    let frames = this.#heard.get(channelId)
    if (frames === undefined) {
      const [oldest] = this.#heard.keys()
      if (this.#heard.size >= keptCalls && oldest !== undefined) this.#heard.delete(oldest)
      this.#heard.set(channelId, (frames = []))
    }
    if (frames.length < keptFrames) frames.push(frame)
  }

  /** The digits we sent to the callee. */
  pressed(channelId: string): string {
    return this.#pressed.get(channelId) ?? ""
  }

  press(channelId: string, digits: string): void {
    this.#pressed.set(channelId, this.pressed(channelId) + digits)
  }
}
