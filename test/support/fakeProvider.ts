/** The provider of the in-memory world: it responds as the world says, and records all requests in the world's log. */
import { Clock, Effect } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import {
  type Adapter,
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

const trunkOf = (world: World): Trunk => ({
  adopt: () => {},
  mayAppear: () => world.mayAppear,
  hangup: (call, cause) =>
    Effect.andThen(
      Effect.sync(() => {
        world.log.push(`hangup ${cause}`)
        world.refs.push(call)
      }),
      Effect.suspend(() => world.hangup)
    ),
  lookup: (call) =>
    Effect.andThen(
      Effect.sync(() => {
        world.log.push("look")
        world.refs.push(call)
      }),
      Effect.suspend(() =>
        world.isFound(call)
          ? Effect.map(world.lookup, (presence) => ({ presence, told: world.told }))
          : Effect.succeed({ presence: "gone" as const, told: [] })
      )
    ),
  ...(world.opensMedia
    ? {
        openMedia: () =>
          Effect.as(
            Effect.andThen(
              Effect.sync(() => world.log.push("media")),
              Effect.suspend(() => world.media)
            ),
            silence
          )
      }
    : {}),
  originate: ({ callId, leave, maxDurationSeconds, ringTimeoutSeconds, to }: OriginateRequest) =>
    Effect.flatMap(
      Effect.andThen(
        Effect.suspend(() => world.connecting),
        Clock.currentTimeMillis
      ),
      (at) => {
        if (!leave() || (world.isAskedFor && !leave())) return refusal("permit_lapsed")
        world.log.push(`originate ${to}`)
        world.dials.push({ at, callId, maxDurationSeconds, ringTimeoutSeconds, to })
        return Effect.as(world.originate, { providerCallId: world.providerCallId ?? callId })
      }
    ),
  ...(world.transfers
    ? {
        transfer: (_: CallRef, { kind, leave, to }: TransferRequest) =>
          Effect.suspend(() => {
            if (!leave()) return Effect.fail(new TransferRefused({ detail: "it may not leave" }))
            world.log.push(`transfer ${kind} ${to}`)
            return Effect.void
          })
      }
    : {}),
  sendDtmf: () => Effect.void
})

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
