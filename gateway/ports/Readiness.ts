/** Port: whether this node can work now. */
import { Context, type Effect } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export interface TrunkReadiness {
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly provider: string
  readonly isUp: boolean
  /** Why the trunk is down; contains no credential and no phone number. */
  readonly reason: string | null
  /** For providers whose trunks can have several endpoints; otherwise empty. */
  readonly endpoints: ReadonlyArray<{ readonly name: string; readonly isUp: boolean; readonly reason: string | null }>
}

export class Readiness extends Context.Service<
  Readiness,
  {
    /** What is wrong with the database, in a sentence; undefined if it works. */
    readonly databaseTrouble: Effect.Effect<string | undefined>
    /** Why no call can leave on any trunk; undefined while calls can leave. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** Whether engines hear each other by Redis. Never an obstacle: what it carries may be lost. */
    readonly redis: Effect.Effect<"not_used" | "up" | "down">
    /** The trunks that this node has opened. */
    readonly trunks: Effect.Effect<ReadonlyArray<TrunkReadiness>>
  }
>()("gateway/ports/Readiness") {}
