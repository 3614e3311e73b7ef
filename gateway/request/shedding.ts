/** Attributes a request to a client by its head, and sheds it if that client requests too much: see core/load/LoadShedding.ts. */
import { Clock, Effect } from "effect"
import { LOOK_MILLIS, LoadShedding } from "#core/load/LoadShedding.ts"
import { subscriberOf } from "#core/egress/Network.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { nowOf } from "#core/SteadyTime.ts"
import { credentialHeaders } from "./authenticate.ts"
import type { Client } from "#gateway/http/Client.ts"
import { failure, jsonHeaders, type Reply } from "#gateway/http/Endpoint.ts"

/** How many known API keys are remembered. Their requests are attributed to their organization, not to the address that unknown ones share. */
const familiarKeys = 10_000

export const shed: Reply = {
  ...failure(503, "The engine cannot keep up, and you send more requests than others: try again in a second"),
  headers: [...jsonHeaders, ["retry-after", "1"]]
}

export interface Shedding {
  /** Counts a request. Undefined: it is not refused. `weight`: see `weightOf`. */
  readonly refusal: (headers: Readonly<Record<string, string>>, client: Pick<Client, "address">, weight: number) => Reply | undefined
}

/** Runs until the scope closes. `remembered`: the caller of a recently authenticated API key. */
export const makeShedding = Effect.fnUntraced(function* (remembered: (rawKey: string) => Caller | undefined) {
  const clock = yield* Clock.Clock
  const load = new LoadShedding()
  yield* Effect.acquireRelease(
    Effect.sync(() => setInterval(() => load.look(nowOf(clock)), LOOK_MILLIS).unref()),
    (timer) => Effect.sync(() => clearInterval(timer))
  )
  const familiar = new Map<string, string>()
  const organizationOf = (rawKey: string): string | undefined => {
    const known = familiar.get(rawKey)
    if (known !== undefined) return known
    const caller = remembered(rawKey)
    if (caller === undefined) return undefined
    if (familiar.size >= familiarKeys) familiar.clear()
    const name = `organization ${caller.organizationId}`
    familiar.set(rawKey, name)
    return name
  }
  const shedding: Shedding = {
    refusal: (headers, client, weight) => {
      const key = headers["x-api-key"]
      const organization = key === undefined ? undefined : organizationOf(key)
      const hasCredential = credentialHeaders.some((name) => name in headers)
      const somebody = organization ?? `${hasCredential ? "credentials" : "strangers"} of ${subscriberOf(client.address)}`
      return load.refuses(somebody, weight) ? shed : undefined
    }
  }
  return shedding
})
