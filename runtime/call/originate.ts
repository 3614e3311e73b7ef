/**
 * How a call's request is sent: at its dial time, after the attempt has been marked `sent`, and only while everything still allows it.
 * Permission is checked before and after marking, and again in the same synchronous step that writes the first byte; the local journal's line is
 * written last. A request whose outcome is unknown is never repeated.
 */
import { Effect } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import { dialedBy } from "#core/call/LostAttempts.ts"
import { type OriginateDoubtful, OriginateRefused, type OriginateRequest, type Trunk } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallServices } from "./CallServices.ts"
import type { Dialing, LiveCall } from "./LiveCall.ts"
import { notePlaced, noteRefused } from "./noteDown.ts"
import { needsAudio } from "./greeted.ts"
import { eventOf, logRefusal, nameless, overdue } from "./originateFailure.ts"

const { Accepted, Refused } = CallEvent.cases

/** A request that is this late is not sent at all. */
export const LATEST_MILLIS = 10_000
/** How long before its dial time an attempt is marked `sent`, unless claiming it already did so. */
const MARK_AHEAD_MILLIS = 50
/** If checking took longer than this, the process was frozen meanwhile, and what was found may not hold any more. */
const CHECKED_MILLIS = 100
/** The precision of timers. */
const AT_ONCE_MILLIS = 0.01
/** For adapters without a timeout of their own. */
const ORIGINATE_TIMEOUT = "20 seconds"

export const originate = Effect.fnUntraced(function* (services: CallServices, call: LiveCall) {
  const { dialing } = call
  if (dialing === undefined) return
  const latest = dialing.departure.readyAt() + LATEST_MILLIS
  // Another engine is asked only once everything else is done: its permission is short.
  if (dialing.departure.granted === undefined) yield* awaitMoment(services, call, latest, dialing.marked ? 0 : MARK_AHEAD_MILLIS)
  yield* call.trunk.originating.withPermits(1)(send(services, call, latest))
})

/** Withdraws a request that has not been sent, so that it never will be. False if it has already been sent. */
export const withdraw = ({ clock }: CallServices, call: LiveCall): boolean => {
  if (call.dialing === undefined) return false
  call.dialing.departure.giveBack()
  call.dialing = undefined
  call.tell(Refused.make({ at: SteadyTime.nowOf(clock), reason: "permit_lapsed" }))
  return true
}

/** Waits until `aheadMillis` before the call's dial time; a missed dial time has been replaced by a later one. False if it is too late. */
const awaitMoment = Effect.fnUntraced(function* (
  { clock }: CallServices,
  call: LiveCall,
  latest: SteadyTime.SteadyMillis,
  aheadMillis: number
) {
  while (call.dialing !== undefined) {
    const { departure } = call.dialing
    if (aheadMillis === 0 && departure.granted !== undefined) return yield* departure.granted(latest)
    const at = departure.readyAt()
    const early = at - aheadMillis - SteadyTime.nowOf(clock)
    if (at > latest) return false
    if (early <= AT_ONCE_MILLIS) return true
    yield* Effect.sleep(early)
  }
  return false
})

const send = Effect.fnUntraced(function* (services: CallServices, call: LiveCall, latest: SteadyTime.SteadyMillis) {
  const { dialing } = call
  if (dialing === undefined) return
  const request = new OutgoingRequest(services, call, dialing, latest)
  // The permit is checked before the attempt is marked `sent` and again afterwards, because marking takes time.
  if (!request.mayLeave() || !(yield* mark(services, call))) return void withdraw(services, call)
  if (!(yield* awaitMoment(services, call, latest, 0)) || !request.mayLeave()) return void withdraw(services, call)
  services.pass("marked sent")
  request.from = dialing.from ?? call.trunk.callerIdFor(dialing.phoneNumber)
  yield* place(request).pipe(
    Effect.timeoutOrElse({ duration: ORIGINATE_TIMEOUT, orElse: () => Effect.fail(overdue(call)) }),
    // The originate is over, so there is nothing left to withdraw, whether or not the adapter called `leave`.
    Effect.ensuring(
      Effect.sync(() => {
        if (request.hasLeft) noteLeft(request)
        call.dialing = undefined
        dialing.departure.giveBack()
      })
    ),
    Effect.tapError((error) => logRefusal(error, nameless(error.detail, dialing.phoneNumber))),
    Effect.match({ onFailure: (error) => failed(request, error), onSuccess: ({ providerCallId }) => accepted(request, providerCallId) })
  )
})

/** False if the permit has ended, or the database did not answer in time. */
const mark = ({ clock, journal }: CallServices, { attempt, dialing }: LiveCall) =>
  dialing?.marked === true
    ? Effect.succeed(true)
    : journal
        .sent(attempt.callId, clock.currentTimeMillisUnsafe())
        .pipe(Effect.timeoutOrElse({ duration: LATEST_MILLIS, orElse: () => Effect.succeed(false) }))

class OutgoingRequest {
  readonly services: CallServices
  readonly call: LiveCall
  readonly dialing: Dialing
  readonly latest: SteadyTime.SteadyMillis
  /** The number shown to the callee. */
  from: string | undefined
  hasLeft = false
  /** The local journal says that it has left. */
  isInJournal = false
  isNoted = false
  /** Nothing was sent: the rate had no room at this instant, or the process was frozen right before the first byte. */
  isPutOff = false

  constructor(services: CallServices, call: LiveCall, dialing: Dialing, latest: SteadyTime.SteadyMillis) {
    this.services = services
    this.call = call
    this.dialing = dialing
    this.latest = latest
  }

  /** No other engine is dialing, the permit holds, and the number has not opted out since its contact was claimed. */
  isAllowed(): boolean {
    const { call, dialing, services } = this
    const { charge, optOuts } = services
    return charge.mayDial() && dialing.permit.holds() && !optOuts.has(call.attempt.organizationId, dialing.phoneNumber)
  }

  mayLeave(): boolean {
    const { call, dialing, latest, services } = this
    return (
      call.dialing === dialing &&
      SteadyTime.nowOf(services.clock) <= latest &&
      this.isAllowed() &&
      call.trunk.mayLeave(call.attempt.callId) &&
      // A number that has been removed in the meantime must not be shown.
      (dialing.from === undefined || call.trunk.callerIds().all.includes(dialing.from))
    )
  }

  /** Called by the adapter right before the first byte. False if the request must not be sent. */
  readonly leave = (endpoint?: string): boolean => {
    const { call, dialing, services } = this
    const { local, realMillis } = services
    const { callId } = call.attempt
    const contact = dialedBy(call.attempt)
    call.ref = { ...call.ref, endpoint }
    // Already called once, on behalf of an adapter that was not known to call it itself.
    if (this.hasLeft) return this.isAllowed() && local.left(callId, endpoint, contact)
    const askedAt = realMillis()
    if (!this.mayLeave()) return false
    this.isPutOff = !dialing.departure.leave()
    // The journal comes last: what is not in it has not been sent, and what is in it may have been.
    if (this.isPutOff || !local.left(callId, endpoint, contact)) return false
    this.isInJournal = true
    // Another engine may have taken over while this one was frozen, and calls that are due now would leave beside this one.
    if (realMillis() > askedAt + CHECKED_MILLIS) {
      this.isPutOff = true
      dialing.departure.renew()
      return false
    }
    this.hasLeft = true
    // Deferred until the bytes are written, to keep the gap before them short: if the engine is killed between the journal's line and the first
    // byte, the call is in doubt although nobody received it.
    queueMicrotask(() => noteLeft(this))
    return true
  }
}

/** Runs once per request, before its outcome is handled, which may arrive in the same instant. */
const noteLeft = (request: OutgoingRequest): void => {
  if (request.isNoted) return
  request.isNoted = true
  const { call, dialing, from } = request
  const { clock, metrics } = request.services
  const now = SteadyTime.nowOf(clock)
  call.dialing = undefined
  call.trunk.left(call.attempt.callId)
  call.sentAt = now
  call.trace?.left()
  metrics.originated++
  if (dialing.freedAt !== undefined) metrics.refillSeconds.observe(Math.max(0, now - dialing.freedAt) / 1000)
  call.ref = { ...call.ref, from, sentAt: clock.currentTimeMillisUnsafe() }
  call.fetching?.leave(from)
}

/** What the provider's own machine detection should find out. The engine listens as well. */
const detectionFor = ({ voice: { detectMachine, onMachine } }: LiveCall): OriginateRequest["detect"] =>
  detectMachine ? (onMachine === "leave_message" ? "greetingEnd" : "who") : "no"

const hasAudio = ({ trunk }: LiveCall): boolean => trunk.media !== undefined || trunk.trunk.openMedia !== undefined

/** The callee would answer and hear nothing. */
const noAudio = Effect.fail(
  new OriginateRefused({ reason: "misconfigured", detail: "calls through this provider have no audio, and the agent needs it" })
)

/** Asks the provider for the call. A request that was put off waits for its next dial time. */
const place = (request: OutgoingRequest): ReturnType<Trunk["originate"]> => {
  const { call, dialing, from, latest, leave, services } = request
  const { context, phoneNumber } = dialing
  const detect = detectionFor(call)
  const asked = { ...call.limits, callId: call.attempt.callId, context, detect, from, leave, to: phoneNumber }
  if (needsAudio(call) && !hasAudio(call)) return noAudio
  const placing: ReturnType<Trunk["originate"]> = Effect.suspend(() => {
    request.isPutOff = false
    return call.trunk.originate(asked)
  }).pipe(
    Effect.catch((error) =>
      request.isPutOff
        ? Effect.flatMap(awaitMoment(services, call, latest, 0), (isInTime) => (isInTime ? placing : Effect.fail(error)))
        : Effect.fail(error)
    )
  )
  return placing
}

const accepted = ({ call, dialing, services: { journal, local, pass } }: OutgoingRequest, providerCallId: string): void => {
  pass("accepted")
  notePlaced(local, call)
  // An event may already have named the call, in cases where the reply names only the request.
  if (call.ref.providerCallId === undefined) journal.named(call, providerCallId)
  call.trunk.placed(call.attempt.callId)
  call.trace?.replied()
  dialing.placed?.()
  call.tell(Accepted.make({}))
}

const failed = ({ call, dialing, isInJournal, services }: OutgoingRequest, error: OriginateRefused | OriginateDoubtful): void => {
  const { clock, local, pass, rate } = services
  call.trace?.replied(error._tag === "OriginateDoubtful" ? "doubtful" : error.reason)
  if (error._tag === "OriginateDoubtful") dialing.placed?.()
  else if (error.reason === "rate_limited" && error.elsewhere !== true) rate.slowDown({ key: call.trunk.rateKey, rate: call.trunk.rate })
  const event = eventOf(call, error, nameless(error.detail, dialing.phoneNumber), SteadyTime.nowOf(clock))
  if (event._tag === "Refused" && isInJournal) {
    noteRefused(local, call, event, clock.currentTimeMillisUnsafe())
    pass("refused")
  }
  call.tell(event)
}
