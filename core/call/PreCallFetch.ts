/**
 * The request to the agent owner's server when a call is dialed, and what its response adds to the call's context. Pure. The response comes from
 * outside, so it is not trusted.
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import { parseJson } from "#core/parseJson.ts"
import { isStorable } from "#core/storable.ts"
import { reservedNames } from "#core/run/RunRecord.ts"

/** The body of the request. Outbound calls have the same event name as inbound ones. */
export const questionOf = (call: { readonly agentId: number; readonly from: string | undefined; readonly to: string }): string =>
  JSON.stringify({
    event: "call_inbound",
    call_inbound: { agent_id: call.agentId, from_number: call.from ?? "", to_number: call.to }
  })

/** What the body of a response adds to the context; undefined when it cannot be understood. */
export const fetchedContextOf = (body: string): JsonObject | undefined => {
  const answer = parseJson(body)
  if (!isObject(answer)) return undefined
  const wrapped = isObject(answer["call_inbound"]) ? answer["call_inbound"] : {}
  const given = givenIn(wrapped) ?? givenIn(answer) ?? {}
  const context = isObject(given) ? storable(given, 1) : undefined
  if (!isObject(context)) return undefined
  return Object.fromEntries(Object.entries(context).filter(([name]) => !reservedNames.includes(name)))
}

/** The second name is the older one. */
const givenIn = (answer: JsonObject): unknown => answer["initial_context"] ?? answer["dynamic_variables"]

/** Values nested deeper than this are dropped. */
const deepest = 100

/** JSON without the parts that Postgres cannot store, and without numbers too large to be finite. Undefined: nothing is left. */
const storable = (value: unknown, depth: number): unknown => {
  if (typeof value === "string") return isStorable(value) ? value : undefined
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  if (typeof value !== "object" || value === null) return value
  if (depth > deepest) return undefined
  if (Array.isArray(value)) return value.map((part) => storable(part, depth + 1)).filter((part) => part !== undefined)
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]) => [name, storable(part, depth + 1)] as const)
      .filter(([name, part]) => part !== undefined && isStorable(name))
  )
}
