/** The provider of the in-memory world: it responds as the world says, and records all requests in the world's log. */
import { Clock, Effect } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import {
  type Adapter,
  type Look,
  OriginateDoubtful,
  OriginateRefused,
  type OriginateRequest,
  ProviderError,
  type Trunk
} from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import type { World } from "./fakes.ts"

export const refusal = (reason: OriginateRefused["reason"], retryAfterMillis?: number) =>
  Effect.fail(new OriginateRefused({ detail: reason, reason, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) }))
export const noReply = Effect.fail(new OriginateDoubtful({ detail: "no reply" }))
const broken = new ProviderError({ detail: "broken", operation: "test", provider: "fake" })
export const failing = Effect.fail(broken)

const silence: MediaStream = { clear: () => {}, listen: () => {}, mark: () => false, send: () => true, skip: () => {} }

const trunkOf = (world: World): Trunk => {
  const asked = <A>(line: string, call: CallRef, answer: () => Effect.Effect<A, ProviderError>) =>
    Effect.suspend(() => {
      world.log.push(line)
      world.refs.push(call)
      return answer()
    })
  return {
    adopt: () => {},
    mayAppear: () => world.mayAppear,
    hangup: (call, cause) => asked(`hangup ${cause}`, call, () => world.hangup),
    lookup: (call) =>
      asked("look", call, () =>
        world.isFound(call)
          ? Effect.map(world.lookup, (presence): Look => ({ presence, told: world.told }))
          : Effect.succeed({ presence: "gone", told: [] })
      ),
    ...(world.opensMedia && {
      openMedia: () =>
        Effect.suspend(() => {
          world.log.push("media")
          return Effect.as(world.media, silence)
        })
    }),
    originate: Effect.fnUntraced(function* ({ callId, leave, maxDurationSeconds, ringTimeoutSeconds, to }: OriginateRequest) {
      yield* world.connecting
      const at = yield* Clock.currentTimeMillis
      if (!leave() || (world.isAskedFor && !leave())) return yield* refusal("permit_lapsed")
      world.log.push(`originate ${to}`)
      world.dials.push({ at, callId, maxDurationSeconds, ringTimeoutSeconds, to })
      yield* world.originate
      return { providerCallId: world.providerCallId ?? callId }
    }),
    ...(world.transfers && {
      transfer: (_: CallRef, { kind, leave, to }: TransferRequest) =>
        Effect.suspend(() => {
          if (!leave()) return Effect.fail(new TransferRefused({ detail: "it may not leave" }))
          world.log.push(`transfer ${kind} ${to}`)
          return Effect.void
        })
    }),
    sendDtmf: () => Effect.void
  }
}

export const adapterOf = (world: World): Adapter => ({
  connect: (_, context) =>
    Effect.sync(() => {
      world.provider = context
      context.onStatus({ _tag: "Up" })
      return trunkOf(world)
    }),
  fields: {},
  ...(world.read === undefined ? {} : { read: world.read }),
  ...(world.accept === undefined ? {} : { media: { accept: world.accept } }),
  manifest: {
    callsPerSecond: 50,
    contract: 2,
    displayName: "Fake",
    docsUrl: "",
    originatesInFlight: 4,
    provider: "fake",
    ...world.manifest
  }
})
