/**
 * Opens recognizers while phones ring, so that no handshake falls into the callee's first turn. What fails here is neither noted nor counted: the
 * answered call then opens a session itself, as do the calls of carriers that do not report ringing. Phones that only ring never keep a callee from
 * being heard: when a service refuses a session because of its limit, theirs are closed.
 */
import { type Clock, Effect, type Scope } from "effect"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { EarlySession } from "./EarlySession.ts"
import type { VoicePlan } from "./VoiceSession.ts"

/** For how long nothing is opened early after a service has refused a session because of its limit. */
const restMillis = 60_000
/** How long a service may take to notice that sessions have been closed. */
const roomAfter = "250 millis"

interface Ringing {
  readonly service: string
  readonly session: EarlySession
}

/** An organization's account with a service. */
const serviceOf = ({ organizationId }: VoicePlan, { provider }: SpeechToText): string => `${organizationId} ${provider}`
const isLimit = ({ reason }: ModelError): boolean => reason === "rate_limited"

export class EarlyHearing {
  readonly #clock: Clock.Clock
  readonly #ringing = new Map<VoicePlan, Ringing>()
  readonly #restsUntil = new Map<string, SteadyTime.SteadyMillis>()

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  /** Keeps a session open for the call while it rings. Lasts until the interrupt, or until the session is no longer needed. Never fails. */
  hold(plan: VoicePlan): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { hearing, hintsAt, plan: conversation } = plan.conversation
      if (hearing === undefined || hearing.opensEarly === false) return Effect.void
      const service = serviceOf(plan, hearing)
      if (this.#rests(service)) return Effect.void
      const session = new EarlySession(hearing, hintsAt(conversation.graph.start), (error) => {
        if (isLimit(error)) this.#rest(service)
      })
      return Effect.acquireUseRelease(
        Effect.sync(() => this.#ringing.set(plan, { service, session })),
        () => session.hold,
        () => Effect.sync(() => this.#ringing.delete(plan))
      )
    })
  }

  /** The call's recognizer: its first session is the one that is held for the call, if there is one. Undefined if the agent cannot hear. */
  recognizerOf(plan: VoicePlan): SpeechToText | undefined {
    const { hearing } = plan.conversation
    if (hearing === undefined) return undefined
    const { model, ownsTurns, provider, turnEndMillis } = hearing
    const open: SpeechToText["open"] = (hints, emit) => this.#open(plan, hearing, hints, emit)
    return { provider, model, ownsTurns, turnEndMillis, open }
  }

  #open(
    plan: VoicePlan,
    recognizer: SpeechToText,
    hints: RecognizerHints,
    emit: (event: RecognizerEvent) => void
  ): Effect.Effect<RecognizerSession, ModelError, Scope.Scope> {
    const service = serviceOf(plan, recognizer)
    /** Some services report their limit only once they are connected to. */
    const tell = (event: RecognizerEvent) => {
      if (event._tag === "Failed" && isLimit(event.error)) this.#makeRoom(service)
      emit(event)
    }
    const opening = recognizer.open(hints, tell)
    return Effect.gen({ self: this }, function* () {
      const held = this.#ringing.get(plan)
      const early = held === undefined ? undefined : yield* held.session.take(tell)
      // What the callee is likely to say may have changed since.
      early?.hint(hints)
      if (early !== undefined) return early
      return yield* Effect.catchIf(opening, isLimit, (error) =>
        this.#makeRoom(service) ? Effect.andThen(Effect.sleep(roomAfter), opening) : Effect.fail(error)
      )
    })
  }

  #rests(service: string): boolean {
    const until = this.#restsUntil.get(service)
    if (until === undefined) return false
    if (SteadyTime.nowOf(this.#clock) < until) return true
    this.#restsUntil.delete(service)
    return false
  }

  #rest(service: string): void {
    this.#restsUntil.set(service, SteadyTime.nowOf(this.#clock) + restMillis)
  }

  /** Leaves the service to callees who have answered. Returns whether any sessions were closed. */
  #makeRoom(service: string): boolean {
    this.#rest(service)
    const ofService = [...this.#ringing.values()].filter((one) => one.service === service)
    return ofService.filter(({ session }) => session.giveUp()).length > 0
  }
}
