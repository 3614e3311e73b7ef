/** The audio of a call: prepared while the phone rings, attached once the callee has answered. */
import { Deferred, Effect } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import { ProviderError } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { VoiceEvent } from "#runtime/voice/VoiceSession.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"

const { EndAsked, MediaLost } = CallEvent.cases

const MEDIA_TIMEOUT = "10 seconds"

/** Speech is prepared only once the phone rings, because nothing is said to numbers that are busy or invalid. */
export const prepareVoice = ({ agent }: CallServices, { fetching, voice }: LiveCall) =>
  fetching === undefined
    ? agent.prepare(voice)
    : Effect.flatMap(Deferred.await(fetching.opening), (opening) => agent.prepare({ ...voice, ...opening }))

/** Lasts until it is interrupted, or until there is no audio; the call's actor is told of that. */
export const converse = Effect.fnUntraced(
  function* ({ agent, clock }: CallServices, call: LiveCall) {
    if (call.handover !== undefined) yield* Deferred.await(call.handover)
    const media = yield* call.trunk.trunk
      .openMedia(call.ref)
      .pipe(Effect.timeoutOrElse({ duration: MEDIA_TIMEOUT, orElse: () => Effect.fail(noMedia(call)) }))
    const session = yield* agent.attach(call.voice, media, (event) => onVoiceEvent(call, event, SteadyTime.nowOf(clock)))
    for (const key of call.keys) session.dtmf(key, clock.currentTimeMillisUnsafe())
    call.session = session
    if (call.isMachine) session.machineDetected()
    if (call.isGreetingOver) session.greetingEnded()
    yield* Effect.never
  },
  Effect.scoped,
  Effect.catch((error) => Effect.logWarning("no audio for a call", { detail: error.detail, operation: error.operation })),
  (conversation, { clock }, call) =>
    Effect.andThen(
      conversation,
      Effect.sync(() => call.tell(MediaLost.make({ at: SteadyTime.nowOf(clock), failed: true })))
    )
)

const onVoiceEvent = (call: LiveCall, event: VoiceEvent, at: SteadyTime.SteadyMillis): void => {
  if (event._tag === "MachineDetected") call.isMachine = true
  if (event._tag === "MessageOver" || (event._tag === "MachineDetected" && call.voice.onMachine === "hangup"))
    call.tell(EndAsked.make({ at, cause: "machine_detected" }))
  if (event._tag === "MediaClosed") call.tell(MediaLost.make({ at, failed: false }))
}

const noMedia = ({ trunk }: LiveCall) =>
  new ProviderError({ detail: "no audio in time", operation: "openMedia", provider: trunk.adapter.manifest.provider })
