/**
 * What this process knows about the calls it sent recently, even after the database has everything: a database that fails over may lose it
 * again.
 */
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { DialedContact } from "#core/call/LostAttempts.ts"
import type { CallId } from "#core/Id.ts"
import type { KnownCall, Undone } from "./FormerJournals.ts"

/** How many ends of settled calls are kept, the latest ones. For other calls, the provider is asked. */
const MOST_ENDS = 10_000

interface RecentCall {
  readonly contact: DialedContact | undefined
  answeredAt: number | undefined
  end: AttemptEnd | undefined
  undone: Undone | undefined
  /** Undefined while the database does not have everything. */
  settledAt: number | undefined
}

export class RecentCalls {
  readonly #calls = new Map<CallId, RecentCall>()
  /** Settled calls whose ends are kept, oldest first. */
  readonly #settled = new Set<CallId>()

  left(callId: CallId, contact: DialedContact | undefined): void {
    this.#calls.set(callId, { answeredAt: undefined, contact, end: undefined, settledAt: undefined, undone: undefined })
  }

  answered(callId: CallId, at: number): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.answeredAt = at
  }

  ended(callId: CallId, end: AttemptEnd): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.end = end
  }

  undone(callId: CallId, undone: Undone): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.undone = undone
  }

  /** `now`: steady milliseconds. */
  settled(callId: CallId, now: number): void {
    const call = this.#calls.get(callId)
    if (call === undefined) return
    call.settledAt ??= now
    this.#settled.add(callId)
    const [earliest] = this.#settled
    if (this.#settled.size <= MOST_ENDS || earliest === undefined) return
    this.#settled.delete(earliest)
    const forgotten = this.#calls.get(earliest)
    if (forgotten !== undefined) forgotten.end = undefined
  }

  /** When the latest of the calls was settled that are forgotten; steady milliseconds. */
  forgottenUntil = Number.NEGATIVE_INFINITY

  /** Forgets calls settled by `before`. */
  forget(before: number): void {
    for (const [callId, { settledAt }] of this.#calls) {
      if (settledAt === undefined || settledAt > before) continue
      this.forgottenUntil = Math.max(this.forgottenUntil, settledAt)
      this.#calls.delete(callId)
      this.#settled.delete(callId)
    }
  }

  all(): ReadonlyArray<CallId> {
    return [...this.#calls.keys()]
  }

  *dialed(): Generator<readonly [CallId, DialedContact]> {
    for (const [callId, { contact }] of this.#calls) if (contact !== undefined) yield [callId, contact]
  }

  /** Adds this process's knowledge of a call to `known`. */
  known(callId: CallId, known: KnownCall): KnownCall {
    const call = this.#calls.get(callId)
    if (call === undefined) return known
    return { ...known, answeredAt: known.answeredAt ?? call.answeredAt, end: known.end ?? call.end, undone: known.undone ?? call.undone }
  }
}
