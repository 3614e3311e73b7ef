/** The trunk of a configuration whose address the engine must not connect to. It never contacts the provider, and refuses every request. */
import { Effect } from "effect"
import { refusedWords } from "#core/egress/Egress.ts"
import { OriginateRefused, ProviderError, type Trunk, type TrunkContext } from "#core/provider/Adapter.ts"

const refused = (operation: string) => Effect.fail(new ProviderError({ provider: "egress", operation, detail: refusedWords }))

export const refusedTrunk = (context: Pick<TrunkContext, "onStatus">): Trunk => {
  context.onStatus({ _tag: "Down", reason: "unreachable", detail: refusedWords })
  return {
    originate: () => Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: refusedWords })),
    hangup: () => refused("hangup"),
    lookup: () => refused("lookup"),
    openMedia: () => refused("openMedia"),
    adopt: () => {}
  }
}
