/** Port: whether this node can do its work now. */
import { Context, type Effect } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export interface TrunkReadiness {
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly provider: string
  readonly isUp: boolean
  /** Why it is not. No credential, no phone number. */
  readonly reason: string | null
}

export class Readiness extends Context.Service<
  Readiness,
  {
    /** What keeps the database from its work, in a sentence; undefined when nothing does. */
    readonly databaseTrouble: Effect.Effect<string | undefined>
    /** Why no call can leave, whatever the trunk; undefined while nothing is in the way. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** The trunks that this node has opened. */
    readonly trunks: Effect.Effect<ReadonlyArray<TrunkReadiness>>
  }
>()("gateway/Readiness") {}
