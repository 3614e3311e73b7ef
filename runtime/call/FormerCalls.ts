/** Calls that an earlier process of this engine sent, while another engine decides, which settles them. */
import { Context } from "effect"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

export type Heard = (callId: CallId, configurationId: TelephonyConfigId, event: TrunkEvent) => boolean

/** Tells the engine that settles the call what the provider says about it: only this one hears that. False if it is no such call. */
export const HeardOfFormerCall = Context.Reference<Heard>("runtime/call/HeardOfFormerCall", { defaultValue: () => () => false })
