/** The audio of a call: prepared while the phone rings, attached once the callee has answered. */
import { Cause, Deferred, Effect, type Scope } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { ProviderError, type Trunk } from "#core/provider/Adapter.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { VoiceEvent, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import { callVerbs } from "./callVerbs.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"

const { EndAsked, MediaBack, MediaLost } = CallEvent.cases

const MEDIA_TIMEOUT = "15 seconds"
/** A carrier that connects after the answer does so within this time. */
const REOPEN_AFTER = "1 second"
const CROWDED_MILLIS = 1000

/** Speech is prepared only once the phone rings, because nothing is said to numbers that are busy or invalid. */
export const prepareVoice = ({ agent }: CallServices, { voice }: LiveCall) => agent.prepare(voice)
/** The same for the recognizer. */
export const prepareHearing = ({ agent }: CallServices, { voice }: LiveCall) => agent.listenEarly(voice)

/** Runs until it is interrupted, or until there is no audio; in that case the call's actor is told. */
export const converse = Effect.fnUntraced(
  function* (services: CallServices, call: LiveCall) {
    const { agent, clock } = services
    if (call.handover !== undefined) yield* Deferred.await(call.handover)
    call.trace?.mediaWanted()
    const media = yield* openMedia(services, call).pipe(
      Effect.timeoutOrElse({ duration: MEDIA_TIMEOUT, orElse: () => Effect.fail(noMedia(call, "no audio in time")) })
    )
    const session = yield* agent.attach(call.voice, media, (event) => onVoiceEvent(services, call, event), callVerbs(services, call))
    for (const key of call.keys) session.dtmf(key, clock.currentTimeMillisUnsafe())
    call.session = session
    call.trace?.mediaOpen()
    if (call.isMachine || call.answeredBy === "machine") session.machineDetected()
    if (call.isGreetingOver) session.greetingEnded()
    if (call.trunk.media !== undefined) followMedia(services, call, media, session)
    yield* Effect.never
  },
  Effect.scoped,
  Effect.catch((error) => Effect.logWarning("no audio for a call", { detail: error.detail, operation: error.operation })),
  // A defect leaves the callee with silence, too.
  Effect.catchCause((cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.logError("the audio of a call failed", cause)
  ),
  (conversation, { clock }, call) =>
    Effect.andThen(
      conversation,
      Effect.sync(() => call.tell(MediaLost.make({ at: SteadyTime.nowOf(clock), failed: true })))
    )
)

/** If the carrier connects to us, its stream may have been open since before the answer. */
const openMedia = ({ sockets }: CallServices, call: LiveCall): Effect.Effect<MediaStream, ProviderError, Scope.Scope> => {
  const { callId } = call.attempt
  if (call.trunk.media !== undefined) {
    const stream = Effect.callback<MediaStream>((resume) => sockets.listen(callId, (stream) => resume(Effect.succeed(stream))))
    const reopen = call.wasAdopted ? call.trunk.trunk.reopenMedia : undefined
    return reopen === undefined ? stream : Effect.raceFirst(stream, Effect.andThen(reopening(call, reopen), Effect.never))
  }
  return call.trunk.trunk.openMedia?.(call.ref) ?? Effect.fail(noMedia(call, "this provider has no audio"))
}

/** The carrier may have connected to the process that was killed, before the answer. */
const reopening = (call: LiveCall, reopen: NonNullable<Trunk["reopenMedia"]>) =>
  Effect.sleep(REOPEN_AFTER).pipe(
    Effect.andThen(() => reopen(call.ref)),
    Effect.catch((error) => Effect.logWarning("the audio of a call could not be opened again", { detail: error.detail }))
  )

/** Each later stream of the call replaces the previous one. */
const followMedia = ({ clock, sockets }: CallServices, call: LiveCall, first: MediaStream, session: VoiceSession): void => {
  let known = first
  sockets.listen(call.attempt.callId, (stream) => {
    if (stream === known) return
    known = stream
    session.resume(stream)
    call.tell(MediaBack.make({ at: SteadyTime.nowOf(clock) }))
  })
}

const onVoiceEvent = (services: CallServices, call: LiveCall, event: VoiceEvent): void => {
  const { clock, local } = services
  const at = SteadyTime.nowOf(clock)
  if (event._tag === "EndWanted") {
    if (event.cause === "machine_detected") call.isMachine = true
    return askForEnd(services, call, event.cause)
  }
  // A replaced stream has a successor that carries on.
  if (event.how === "replaced") return
  const failed = event.how === "failed"
  // Not if only the connection broke: a crash of Asterisk breaks it too, and its callees have not hung up.
  if (event.how === "ended") local.muted(call.attempt.callId, clock.currentTimeMillisUnsafe())
  call.tell(MediaLost.make({ at, failed }))
}

/** Tries again if the mailbox is full: nothing else would end the call for minutes. */
const askForEnd = (services: CallServices, call: LiveCall, cause: HangupCause): void => {
  const { clock, deadlines } = services
  if (call.isOver || call.tell(EndAsked.make({ at: SteadyTime.nowOf(clock), cause }))) return
  deadlines.set(CROWDED_MILLIS, () => askForEnd(services, call, cause))
}

const noMedia = ({ trunk }: LiveCall, detail: string) =>
  new ProviderError({ detail, operation: "openMedia", provider: trunk.adapter.manifest.provider })
