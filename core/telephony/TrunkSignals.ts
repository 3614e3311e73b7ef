/**
 * Port: tell every node with a live trunk under a telephony configuration to look at its row again. A signal carries nothing; it is sent
 * after the commit, and never fails the change that it tells of.
 */
import { Context, type Effect } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export class TrunkSignals extends Context.Service<
  TrunkSignals,
  {
    /** Credentials or limits are others, or the configuration is gone. What keeps its trunk down may have been repaired. */
    readonly configurationChanged: (id: TelephonyConfigId) => Effect.Effect<void>
    /** Calls may show other numbers than before. */
    readonly numbersChanged: (id: TelephonyConfigId) => Effect.Effect<void>
  }
>()("core/telephony/TrunkSignals") {}
