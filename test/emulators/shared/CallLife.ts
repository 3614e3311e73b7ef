/**
 * What happens to a call between a hosted carrier and the callee: it is dialed, rings, is answered and ends, as the last digits of its number say
 * (`Callee.ts`), and the callee's log records it. Each emulator decides how its carrier reports the call.
 */
import { type Callee, calleeOf, type Ending, machineMillis } from "./Callee.ts"
import type { CalleeEntry, CalleeLog } from "./CalleeLog.ts"
import { Gate } from "./Gate.ts"

export interface CallPace {
  /** 0.1 is ten times faster; audio stays in real time. */
  readonly scale: number
  readonly ringMillis: number
  readonly talkMillis: number
  /** Counts `talkMillis` from the first word that the callee hears, so that everybody is greeted on any machine, however slow. */
  readonly talkOnceHeard: boolean
}

export interface CallEnd {
  readonly by: NonNullable<CalleeEntry["by"]>
  /** Undefined if we hung up or the ring timeout passed. */
  readonly ending: Ending | undefined
  /** The milliseconds as they would be without the scale; undefined if nobody answered. */
  readonly talkMillis: number | undefined
}

interface Listener {
  readonly ringing: () => void
  readonly answered: () => void
  readonly ended: (end: CallEnd) => void
}

interface CallSettings {
  readonly id: string
  readonly number: string
  readonly shown: string
  readonly ringTimeoutSeconds: number
  /** The limit of the whole call, if the carrier got one. */
  readonly maxSeconds?: number
}

/** A callee who presses keys hangs up only after that, however late the audio that carries them; without any audio, after this time. */
const longestUnpressedMillis = 60_000

/** The share of the ringing time that passes before the far end sends anything. */
const firstReply = 0.2

/** All calls that go through one emulator. */
export class CallLives {
  readonly log: CalleeLog
  readonly pace: CallPace
  /** Callees who would have answered. */
  readonly #answers = new Gate()
  /** Callees who would have hung up. */
  readonly goodbyes = new Gate()

  constructor(log: CalleeLog, pace: Partial<CallPace> = {}) {
    this.log = log
    this.pace = { scale: 1, ringMillis: 100, talkMillis: 300, talkOnceHeard: false, ...pace }
  }

  /** The call leaves the carrier now. The listener is called later, never from here. */
  dial(settings: CallSettings, listener: Listener): CallLife {
    return new CallLife(this, settings, listener)
  }

  /** On: nobody answers. Off: callees whose time to answer has come do so now. */
  letRing(on: boolean): void {
    this.#answers.close(on)
  }

  /** On: nobody who talks hangs up. Off: callees whose time to hang up has come do so now. */
  letTalk(on: boolean): void {
    this.goodbyes.close(on)
  }

  whenAnswersAreAllowed(pickUp: () => void): void {
    this.#answers.pass(pickUp)
  }
}

export class CallLife {
  readonly id: string
  readonly callee: Callee
  state: "dialing" | "ringing" | "up" | "ended" = "dialing"
  #answeredAt: number | undefined
  readonly #lives: CallLives
  readonly #settings: CallSettings
  readonly #listener: Listener
  readonly #timers = new Set<NodeJS.Timeout>()
  #hasPressed = false
  #afterKeys: (() => void) | undefined
  #onceHeard: (() => void) | undefined

  constructor(lives: CallLives, settings: CallSettings, listener: Listener) {
    const { id, number, ringTimeoutSeconds, shown } = settings
    this.id = id
    this.callee = calleeOf(number)
    this.#lives = lives
    this.#settings = settings
    this.#listener = listener
    lives.log.record({ channelId: id, number, kind: "originate", ...(shown === "" ? {} : { shown }) })
    this.#after(ringTimeoutSeconds * 1000 * lives.pace.scale, () => this.#end({ by: "timeout" }))
    this.#play(this.callee)
  }

  /** Hangs up in any state. Returns false if the call has already ended. */
  hangUp(): boolean {
    if (this.state === "ended") return false
    this.#end({ by: "us" })
    return true
  }

  /** All of the callee's keys have been pressed, or can no longer be pressed. */
  pressedAll(): void {
    this.#hasPressed = true
    this.#afterKeys?.()
  }

  /** The callee has heard a word of ours. */
  heard(): void {
    const run = this.#onceHeard
    this.#onceHeard = undefined
    run?.()
  }

  #whenPressed(callee: Extract<Callee, { kind: "answers" }>, run: () => void): void {
    if (callee.presses === undefined || this.#hasPressed) return run()
    this.#afterKeys = run
    this.#after(longestUnpressedMillis, run)
  }

  #play(callee: Callee): void {
    const { ringMillis, scale } = this.#lives.pace
    const ring = ringMillis * scale
    const rings = callee.kind === "answers" || callee.rings
    if (rings) this.#after(ring * firstReply, () => this.#ring())
    if (callee.kind === "answers") this.#after(ring, () => this.#lives.whenAnswersAreAllowed(() => this.#pickUp(callee)))
    if (callee.kind === "refuses") this.#after(rings ? ring : ring * firstReply, () => this.#end({ by: "callee", ending: callee.ending }))
  }

  #ring(): void {
    this.state = "ringing"
    this.#record("ringing")
    this.#listener.ringing()
  }

  #pickUp(callee: Extract<Callee, { kind: "answers" }>): void {
    if (this.state === "ended") return
    this.#clearTimers()
    this.state = "up"
    this.#answeredAt = performance.now()
    this.#record("answered")
    const { talkOnceHeard } = this.#lives.pace
    if (talkOnceHeard) this.#onceHeard = () => this.#talk(callee)
    this.#listener.answered()
    if (!talkOnceHeard) this.#talk(callee)
    const { maxSeconds } = this.#settings
    if (maxSeconds !== undefined) this.#after(maxSeconds * 1000 * this.#lives.pace.scale, () => this.#end({ by: "timeout" }))
  }

  #talk(callee: Extract<Callee, { kind: "answers" }>): void {
    if (this.state === "ended") return
    const { scale, talkMillis } = this.#lives.pace
    const talk = talkMillis * scale
    const end = (cause: number) => () => this.#end({ by: "callee", ending: { cause } })
    const goodbye = () => this.#lives.goodbyes.pass(end(16))
    if (callee.stay === "talks") this.#after(talk, () => this.#whenPressed(callee, goodbye))
    if (callee.stay === "bounded") this.#after(Math.max(machineMillis.least, machineMillis.most * scale), goodbye)
    if (callee.stay === "hangs-up-at-once") this.#after(0, goodbye)
    if (callee.stay === "loses-the-line") this.#after(talk / 2, end(38))
  }

  #end({ by, ending }: { readonly by: CallEnd["by"]; readonly ending?: Ending }): void {
    if (this.state === "ended") return
    this.#clearTimers()
    this.state = "ended"
    this.#record("ended", { by, cause: ending?.cause ?? (by === "timeout" ? 19 : 16) })
    const talkMillis = this.#answeredAt === undefined ? undefined : (performance.now() - this.#answeredAt) / this.#lives.pace.scale
    this.#listener.ended({ by, ending, talkMillis })
  }

  #record(kind: CalleeEntry["kind"], more: Pick<CalleeEntry, "by" | "cause"> = {}): void {
    const { id, number } = this.#settings
    this.#lives.log.record({ channelId: id, number, kind, ...more })
  }

  #after(millis: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, millis)
    this.#timers.add(timer.unref())
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }
}
