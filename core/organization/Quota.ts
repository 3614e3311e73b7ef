/**
 * What an organization may use. The operator sets it, and the organization may lower it for itself. The defaults apply where nothing is set:
 * they exceed what one company needs on one machine, and bound what an intruder can use up.
 */
import { Schema } from "effect"

const gibibyte = 1024 ** 3

/** The default of every quota. `calls` is replaced by the installation's setting (`ORG_CONCURRENCY`). */
export const defaultQuotas = {
  /** Live calls. */
  calls: 10,
  /** Size of stored files: lists, recordings, transcripts, documents. */
  storage_bytes: 1024 * gibibyte,
  /** Stored contacts of all campaigns together. */
  rows: 50_000_000,
  /** Agents, including archived ones, which are kept. */
  agents: 10_000,
  /** API keys that are not archived. */
  keys: 1000,
  /** Connections that follow events, per engine. */
  followers: 100,
  /** Authenticated requests, per engine. */
  requests_per_second: 2000,
  /** Requests in a burst before the rate applies. */
  request_burst: 10_000
} as const

export type QuotaName = keyof typeof defaultQuotas
export const quotaNames = [
  "calls",
  "storage_bytes",
  "rows",
  "agents",
  "keys",
  "followers",
  "requests_per_second",
  "request_burst"
] as const satisfies ReadonlyArray<QuotaName>
/** Null means not set. */
export interface SetLimits {
  readonly allowed: number | null
  readonly own: number | null
}

export interface Quota {
  /** The effective limit: the lower of `allowed` and `own`. */
  readonly limit: number
  readonly allowed: number
  readonly own: number | null
}

export type QuotaDefaults = Readonly<Record<QuotaName, number>>

export const quotaOf = (name: QuotaName, set: SetLimits | undefined, defaults: QuotaDefaults = defaultQuotas): Quota => {
  const allowed = set?.allowed ?? defaults[name]
  const own = set?.own ?? null
  return { limit: Math.min(allowed, own ?? allowed), allowed, own }
}

/** The quotas that every request is checked against, so they are loaded together with the caller. */
export interface Allowance {
  readonly requestsPerSecond: number
  readonly requestBurst: number
  readonly followers: number
}
export const allowanceNames = ["followers", "requests_per_second", "request_burst"] as const satisfies ReadonlyArray<QuotaName>

/** The stored limits by name, as the database returns them. Null: none is set. */
export type SetAllowance = Readonly<Partial<Record<(typeof allowanceNames)[number], SetLimits>>> | null

export const allowanceOf = (set: SetAllowance): Allowance => ({
  requestsPerSecond: quotaOf("requests_per_second", set?.requests_per_second).limit,
  requestBurst: quotaOf("request_burst", set?.request_burst).limit,
  followers: quotaOf("followers", set?.followers).limit
})
export const defaultAllowance = allowanceOf(null)
export const followersOf = ({ allowance = defaultAllowance }: { readonly allowance?: Allowance }): number => allowance.followers

const Name = Schema.Literals(quotaNames)

/** There is no room for `wanted` more. */
export class QuotaFull extends Schema.TaggedError<QuotaFull>()("QuotaFull", {
  quota: Name,
  limit: Schema.Finite,
  used: Schema.Finite,
  wanted: Schema.Finite
}) {}

/** An organization asked for more than the operator allows. */
export class QuotaNotAllowed extends Schema.TaggedError<QuotaNotAllowed>()("QuotaNotAllowed", {
  quota: Name,
  /** The field of the request that asked for it. */
  field: Schema.String,
  allowed: Schema.Finite,
  asked: Schema.Finite
}) {}

/** The caller is not an operator. */
export class OperatorNeeded extends Schema.TaggedError<OperatorNeeded>()("OperatorNeeded", {}) {}
/** Without an operator key, nobody could set quotas. */
export class LastOperatorKey extends Schema.TaggedError<LastOperatorKey>()("LastOperatorKey", {}) {}

export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  perSecond: Schema.Finite,
  retryAfterSeconds: Schema.Int
}) {}
