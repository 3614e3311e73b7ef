/** What every adapter must do that can try a configuration out. */
import { Effect, Schema } from "effect"
import type { Test } from "tap"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import { trunksOf } from "#test/support/egress.ts"
import type { World } from "./conformance.ts"

const first = Schema.decodeSync(OrganizationId)(1)

const wrongIn = async (adapter: Adapter, config: World["config"]): Promise<ReadonlyArray<Check>> => {
  const found: Array<Check> = []
  const context = {
    configurationId: Schema.decodeSync(TelephonyConfigId)(1),
    apiOrigin: undefined,
    egress: trunksOf(first, { first }),
    node: "verify",
    report: (check: Check) => void found.push(check)
  }
  await Effect.runPromise(Effect.scoped(adapter.verify?.(config, context) ?? Effect.void))
  return found.filter(({ result }) => result === "failed")
}

export const verified = async (t: Test, world: World, adapter: Adapter): Promise<void> => {
  if (adapter.verify === undefined) return
  await t.test("when a configuration is tried out, then it is said what is wrong, if anything is", async (t) => {
    t.strictSame(await wrongIn(adapter, world.config), [])
    t.match(await wrongIn(adapter, world.unreachableConfig), [{ name: "connection", message: String, advice: String }])
    const wrong = await wrongIn(adapter, world.wrongConfig)
    t.match(wrong, [{ name: "credentials", message: String, advice: String }])
    t.notMatch(JSON.stringify(wrong), "wrong secret")
  })
}
