/**
 * The adapter of a hosted carrier: the author declares what the carrier does differently, and the rest is added here. A callback is only read
 * once it is proven genuine; if the carrier signs its requests for media sockets, they are checked in the same way.
 */
import { Effect, type Scope } from "effect"
import {
  type Adapter,
  defineAdapter,
  type PrepareContext,
  type ProviderError,
  type Trunk,
  type TrunkContext,
  type VerifyContext
} from "#core/provider/Adapter.ts"
import type { Manifest } from "#core/provider/Manifest.ts"
import type { Callback, CallbackRead, CarrierRequest } from "#core/provider/Callback.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import type { SetupHost, SetupStep } from "#core/provider/Setup.ts"
import { nonceOf, type Proof } from "./CarrierRequest.ts"
import { type Account, type HostedCarrier, openCarrier, setupOf, verifyAccount } from "./HostedCarrier.ts"

interface HostedAdapter<Fields extends CredentialFields> {
  /** Every call needs a caller ID. */
  readonly manifest: Omit<Manifest, "contract" | "needsCallerId">
  readonly fields: Fields
  /** The account of a configuration. */
  readonly account: (config: ConfigOf<Fields>) => Account
  /** See `Adapter.rateKey`: hosted carriers limit accounts. */
  readonly rateKey: (config: ConfigOf<Fields>) => string
  readonly connect: (carrier: HostedCarrier, config: ConfigOf<Fields>, context: TrunkContext) => Effect.Effect<Trunk, never, Scope.Scope>
  readonly callbackHeaders: ReadonlyArray<string>
  /** Undefined: the carrier did not send this. If it signs nothing, the secret address is the proof. */
  readonly proofOf: (request: CarrierRequest, config: ConfigOf<Fields>) => Proof | undefined
  /** The meaning of a genuine callback, as `Adapter.read` returns it; a nonce that `signs` lists is added. */
  readonly read: (callback: Callback, config: ConfigOf<Fields>, proof: Proof) => CallbackRead | undefined
  readonly media?: AcceptMedia
  /** Whether a request for a media socket is genuine. Default: checked like a callback if `signs` lists `socket`, otherwise by its address. */
  readonly admit?: (upgrade: Callback, config: ConfigOf<Fields>) => boolean
  /** Why the carrier does not accept this public address of ours. */
  readonly refusesUrl?: (url: URL) => string | undefined
  /** What a person has to enter at the carrier, see `enteredStep`. */
  readonly entered?: (host: SetupHost) => ReadonlyArray<SetupStep>
  readonly prepare?: (
    carrier: HostedCarrier,
    config: ConfigOf<Fields>,
    context: PrepareContext
  ) => Effect.Effect<Readonly<Record<string, string>>, ProviderError, Scope.Scope>
  /** What is tested after the account itself. */
  readonly verify?: (carrier: HostedCarrier, config: ConfigOf<Fields>, context: VerifyContext) => Effect.Effect<void, never, Scope.Scope>
}

export const defineHostedAdapter = <const Fields extends CredentialFields>(adapter: HostedAdapter<Fields>): Adapter => {
  const { account, callbackHeaders, connect, entered, fields, manifest, media, prepare, proofOf, rateKey, refusesUrl, verify } = adapter
  const { displayName, provider, signs = [] } = manifest
  const open = (config: ConfigOf<Fields>, context: Parameters<typeof openCarrier>[1]) =>
    openCarrier({ ...account(config), displayName, provider }, context)
  const isProved = (upgrade: Callback, config: ConfigOf<Fields>) => proofOf(upgrade, config) !== undefined
  const { admit = signs.includes("socket") ? isProved : () => true } = adapter
  return defineAdapter<Fields>({
    manifest: { ...manifest, contract: 2, needsCallerId: true },
    fields,
    rateKey,
    callbackHeaders,
    connect: Effect.fn(`${provider}.connect`)(function* (config, context) {
      return yield* connect(yield* open(config, context), config, context)
    }),
    read: (config, callback) => {
      const proof = proofOf(callback, config)
      const read = proof && adapter.read(callback, config, proof)
      return read && { ...read, ...(signs.includes("nonce") ? nonceOf(proof) : {}) }
    },
    ...(media === undefined ? {} : { media: { admit: (config, upgrade) => admit(upgrade, config), accept: media } }),
    setup: (config, host) => [...setupOf({ ...account(config), displayName, provider }, host, refusesUrl), ...(entered?.(host) ?? [])],
    ...(prepare === undefined
      ? {}
      : {
          prepare: Effect.fn(`${provider}.prepare`)(function* (config, context) {
            return yield* prepare(yield* open(config, context), config, context)
          })
        }),
    verify: Effect.fn(`${provider}.verify`)(function* (config, context) {
      const carrier = yield* open(config, context)
      yield* verifyAccount(carrier, context)
      if (verify !== undefined) yield* verify(carrier, config, context)
    })
  })
}
