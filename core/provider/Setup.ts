/** What a configuration needs, besides valid fields, before calls can be placed through it: a checklist for the person who sets it up. */
import { Context } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export interface SetupStep {
  /** `[a-z_]`, the same for all configurations of a provider. */
  readonly key: string
  readonly title: string
  /** What to do, in a sentence. It may contain an address to enter at the provider, but no secret. */
  readonly description: string
  readonly isComplete: boolean
  /** Whether no call can be placed until this step is complete. */
  readonly blocksOutbound: boolean
}

/** What an adapter must know about the engine to find the missing steps. */
export interface SetupHost {
  /** Undefined if carriers cannot reach the engine. */
  readonly publicUrl: string | undefined
  /** Makes an address for the whole configuration, like `TrunkContext.callbackUrl`. */
  readonly callbackUrl: ((kind: string) => string) | undefined
}

/** How carriers reach this engine. By default, they cannot. */
export const CarrierHost = Context.Reference<(id: TelephonyConfigId) => SetupHost>("core/provider/CarrierHost", {
  defaultValue: () => () => ({ callbackUrl: undefined, publicUrl: undefined })
})

/** Why no call can be placed: the description of the first missing step. */
export const blockedBy = (steps: ReadonlyArray<SetupStep>): string | undefined =>
  steps.find(({ blocksOutbound, isComplete }) => blocksOutbound && !isComplete)?.description
