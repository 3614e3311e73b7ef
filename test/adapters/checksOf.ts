import { Effect } from "effect"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import { trunksOf } from "#test/support/egress.ts"

/** What testing a configuration reports. */
export const checksOf = async ({ verify }: Adapter, config: object, apiOrigin?: string): Promise<ReadonlyArray<Check>> => {
  const checks: Array<Check> = []
  const context = {
    configurationId: TelephonyConfigId.make(1),
    apiOrigin: apiOrigin === undefined ? undefined : new URL(apiOrigin),
    egress: trunksOf(OrganizationId.make(1), { first: OrganizationId.make(1) }),
    node: "verify",
    report: (check: Check) => void checks.push(check)
  }
  await Effect.runPromise(Effect.scoped(verify?.({ ...config }, context) ?? Effect.void))
  return checks
}
