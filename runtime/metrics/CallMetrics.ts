/**
 * Counts what happens to this process's calls, in plain numbers, broken down at most by provider or outcome, because there are only a few of
 * each.
 */
import { Context } from "effect"
import type { CallState } from "#core/call/Call.ts"
import { Outcome } from "#core/outcome/Outcome.ts"
import { Histogram } from "#core/Histogram.ts"
import { outcomeOfEnd } from "#core/call/outcomeOfEnd.ts"
import { SocketMetrics } from "./SocketMetrics.ts"

const postDialBounds = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20, 30]
const talkBounds = [1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600]
const refillBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export class CallMetrics {
  /** Dial requests that were sent. */
  originated = 0
  answered = 0
  /** Calls found without an actor and hung up. */
  late = 0
  /** Requests of carriers that were forged or altered, by telephony configuration. */
  readonly callbacksRefused = new Map<number, number>()
  /** By provider. */
  readonly sockets = new Map<string, SocketMetrics>()
  /** Frames of audio, 20 ms each, counted when their call ends. */
  framesSent = 0
  /** Frames that were never sent, because the process was stalled or the line had no room. */
  framesSkipped = 0
  /** Calls in which the greeting had not started two seconds after the answer. */
  greetingsMissed = 0
  readonly ended = new Map<Outcome, number>(Outcome.literals.map((outcome) => [outcome, 0]))
  /** By provider: from the dial request to ringing or answer, whichever came first. */
  readonly postDialSeconds = new Map<string, Histogram>()
  /** From answer to end, of answered calls. */
  readonly talkSeconds = new Histogram(talkBounds)
  /** From the moment that a slot became free while a campaign was waiting for one, to the dial request that used it. */
  readonly refillSeconds = new Histogram(refillBounds)

  /** Counts a call's move from one state to the next. `sentAt` is when its dial request was sent; undefined if another process sent it. */
  moved(provider: string, sentAt: number | undefined, before: CallState, after: CallState, at: number, isMachine = false): void {
    if (sentAt !== undefined && before._tag === "Dialing" && (after._tag === "Ringing" || after._tag === "Up")) {
      this.postDial(provider).observe((at - sentAt) / 1000)
    }
    if (answeredAtOf(before) === undefined && answeredAtOf(after) !== undefined) this.answered++
    if (after._tag !== "Ended") return
    const outcome = outcomeOfEnd(after, isMachine)
    this.ended.set(outcome, (this.ended.get(outcome) ?? 0) + 1)
    if (after.answeredAt !== undefined) this.talkSeconds.observe((after.endedAt - after.answeredAt) / 1000)
  }

  /** `provider`: undefined for a socket that belongs to no known call. */
  socketsOf(provider = "unknown"): SocketMetrics {
    const sockets = this.sockets.get(provider) ?? new SocketMetrics()
    this.sockets.set(provider, sockets)
    return sockets
  }

  private postDial(provider: string): Histogram {
    const histogram = this.postDialSeconds.get(provider) ?? new Histogram(postDialBounds)
    this.postDialSeconds.set(provider, histogram)
    return histogram
  }
}

const answeredAtOf = (state: CallState): number | undefined => ("answeredAt" in state ? state.answeredAt : undefined)

/** The numbers of this process. */
export const CurrentCallMetrics = Context.Reference<CallMetrics>("runtime/metrics/CurrentCallMetrics", {
  defaultValue: () => new CallMetrics()
})
