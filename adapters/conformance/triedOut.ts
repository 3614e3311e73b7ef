/** Testing a configuration, and the secrets that the result must not show. */
import { Effect } from "effect"
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import { configurationId, everywhere } from "./EngineSide.ts"
import { NotAsked } from "./Nonconformity.ts"
import type { Config } from "./World.ts"

/** The checks that failed. */
export const triedOut = async ({ verify }: Adapter, config: Config, apiOrigin: URL | undefined): Promise<ReadonlyArray<Check>> => {
  if (verify === undefined) throw new NotAsked("it cannot try out a configuration")
  const checks: Array<Check> = []
  const report = (check: Check) => void checks.push(check)
  await Effect.runPromise(Effect.scoped(verify(config, { apiOrigin, configurationId, egress: everywhere, node: "verify", report })))
  return checks.filter(({ result }) => result === "failed")
}

export const secretsIn = ({ fields }: Adapter, config: Config): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, { sensitive }]) => {
    const value = config[name]
    return sensitive && typeof value === "string" && value !== "" ? [value] : []
  })
