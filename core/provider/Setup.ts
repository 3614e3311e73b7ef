/** What a configuration needs, besides valid fields, before calls can go out through it: a checklist for whoever sets it up. */
import { Context } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export interface SetupStep {
  /** `[a-z_]`, the same for all configurations of a provider. */
  readonly key: string
  readonly title: string
  /** What to do, in a sentence; it may hold an address to enter at the provider, but no secret. */
  readonly description: string
  readonly isComplete: boolean
  /** No call goes out until it is complete. */
  readonly blocksOutbound: boolean
}

/** What an adapter must know of the engine to say what is missing. */
export interface SetupHost {
  /** Undefined: carriers cannot reach the engine. */
  readonly publicUrl: string | undefined
  /** An address for the whole configuration, as `TrunkContext.callbackUrl` makes it. */
  readonly callbackUrl: ((kind: string) => string) | undefined
}

/** Where carriers reach this engine. By default they do not. */
export const CarrierHost = Context.Reference<(id: TelephonyConfigId) => SetupHost>("core/provider/CarrierHost", {
  defaultValue: () => () => ({ callbackUrl: undefined, publicUrl: undefined })
})

/** Why no call can go out, in the words of the first step that is missing. */
export const blockedBy = (steps: ReadonlyArray<SetupStep>): string | undefined =>
  steps.find(({ blocksOutbound, isComplete }) => blocksOutbound && !isComplete)?.description
