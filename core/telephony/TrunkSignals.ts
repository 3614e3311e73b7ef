/**
 * Port: tells every node with a live trunk under a telephony configuration to read its row again. A signal carries no data; it is sent after
 * the commit, and never fails the change that it announces.
 */
import { Context, type Effect } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"

export class TrunkSignals extends Context.Service<
  TrunkSignals,
  {
    /** The credentials or limits changed, or the configuration is gone. Also makes a trunk that is down retry. */
    readonly configurationChanged: (id: TelephonyConfigId) => Effect.Effect<void>
    /** The numbers that calls may show changed. */
    readonly numbersChanged: (id: TelephonyConfigId) => Effect.Effect<void>
  }
>()("core/telephony/TrunkSignals") {}
