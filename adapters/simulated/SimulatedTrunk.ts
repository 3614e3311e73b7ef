/**
 * The phones of one trunk, which exist only here: they end with the trunk, and with the process. One fiber moves all of them, and sleeps while there
 * are none.
 *
 * `lookup` says `gone` of every call that has no phone here, also of one that an earlier process or another engine placed. That is never taken for a
 * proof that nobody was called, so nobody is dialed again; and the engine asks only about its own calls, and about those of engines that it has given up,
 * whose phones are of no use any more.
 */
import { Clock, Effect, Latch } from "effect"
import { type Look, OriginateRefused, ProviderError, type Trunk, type TrunkContext } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { isDialable } from "#core/telephony/E164.ts"
import { Phone, type PhoneSettings, type Seen } from "./Phone.ts"
import { makeSounds } from "./sounds.ts"

/**
 * How long to sleep between looking after the phones: less than a frame, because each phone's frames are due at its own moment, and not all of them
 * are to be played at once; and no longer than one, because a phone may have been added meanwhile.
 */
const LEAST_SLEEP_MILLIS = 5
const MOST_SLEEP_MILLIS = 20

/** Gets what phones see, by their numbers. */
export type Watch = (number: string, seen: Seen) => void

const fault = (operation: string, detail: string) => new ProviderError({ provider: "simulated", operation, detail })

export const openTrunk = Effect.fnUntraced(function* (settings: PhoneSettings, context: TrunkContext, watch: Watch | undefined) {
  const clock = yield* Clock.Clock
  const now = () => SteadyTime.nowOf(clock)
  const sounds = makeSounds()
  const phones = new Map<string, Phone>()
  const areThere = Latch.makeUnsafe(false)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const phone of phones.values()) phone.vanish()
      phones.clear()
    })
  )
  /** Does what is due, and returns how many milliseconds nothing more is. */
  const look = (): number => {
    const at = now()
    let dueAt = Number.POSITIVE_INFINITY
    for (const phone of phones.values()) dueAt = Math.min(dueAt, phone.run(at))
    if (phones.size === 0) areThere.closeUnsafe()
    return Math.min(MOST_SLEEP_MILLIS, Math.max(LEAST_SLEEP_MILLIS, dueAt - at))
  }
  yield* areThere.await.pipe(Effect.andThen(Effect.suspend(() => Effect.sleep(look()))), Effect.forever, Effect.forkScoped)
  const trunk: Trunk = {
    originate: (request) =>
      Effect.suspend(() => {
        const { callId, leave, to } = request
        if (!isDialable(to))
          return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number in E.164" })
        if (!leave()) return new OriginateRefused({ reason: "permit_lapsed", detail: "the call may not leave any more" })
        const phone = new Phone(now(), request, settings, sounds, {
          report: (event) => {
            if (event._tag === "HungUp") phones.delete(callId)
            context.onEvent(callId, event)
          },
          watch: watch && ((seen) => watch(to, seen))
        })
        phones.set(callId, phone)
        areThere.openUnsafe()
        return Effect.succeed({ providerCallId: callId })
      }),
    hangup: ({ callId }, cause) => Effect.sync(() => phones.get(callId)?.hangUp(cause)),
    lookup: ({ callId }) => Effect.sync(() => lookAt(phones.get(callId))),
    openMedia: ({ callId }) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const [phone, at] = [phones.get(callId), now()]
          const audio = phone?.openAudio(at)
          return audio === undefined ? fault("openMedia", "the call is not up") : Effect.succeed({ audio, phone })
        }),
        ({ audio, phone }) => Effect.sync(() => phone?.closeAudio(audio))
      ).pipe(Effect.map(({ audio }) => audio.stream)),
    sendDtmf: ({ callId }, digits) =>
      Effect.suspend(() => {
        if (!/^[0-9*#A-D]{1,64}$/.test(digits)) return fault("sendDtmf", "not DTMF digits")
        const phone = phones.get(callId)
        if (phone?.state !== "up") return fault("sendDtmf", "the call is not up")
        return Effect.sync(() => phone.press(digits))
      }),
    // Calls from before have no phones.
    adopt: () => {},
    mayAppear: () => false
  }
  context.onStatus({ _tag: "Up" })
  return trunk
})

const lookAt = (phone: Phone | undefined): Look => ({
  presence: phone === undefined ? "gone" : phone.state === "up" ? "up" : "ringing",
  told: []
})
