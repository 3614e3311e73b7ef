/**
 * What an organization may use. The operator sets it; the organization may lower it for itself. The defaults below hold where nobody has set
 * anything: more than one company needs on one machine, and an end to what somebody who has got in can use up.
 */
import { Schema } from "effect"

const gibibyte = 1024 ** 3

/** One place for all. `calls` is what the installation sets (`ORG_CONCURRENCY`). */
export const defaultQuotas = {
  /** Calls up at once. */
  calls: 10,
  /** Files kept: lists, recordings, transcripts, documents. */
  storage_bytes: 1024 * gibibyte,
  /** Contacts kept, of all campaigns together. */
  rows: 50_000_000,
  /** Archived ones too: they are kept. */
  agents: 10_000,
  /** Those that are not archived. */
  keys: 1000,
  /** Connections that follow events, of each engine. */
  followers: 100,
  /** Authenticated requests, of each engine. */
  requests_per_second: 2000,
  /** Requests at once, after which the rate counts. */
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
/** Null: not set. */
export interface SetLimits {
  readonly allowed: number | null
  readonly own: number | null
}

export interface Quota {
  /** What holds: the least of the others. */
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

/** What requests are held against at every one, and so known with who asks. */
export interface Allowance {
  readonly requestsPerSecond: number
  readonly requestBurst: number
  readonly followers: number
}
export const allowanceNames = ["followers", "requests_per_second", "request_burst"] as const satisfies ReadonlyArray<QuotaName>

/** As the database has it: what is set, by name. Null: nothing. */
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

/** An organization asked for more than the operator allows it. */
export class QuotaNotAllowed extends Schema.TaggedError<QuotaNotAllowed>()("QuotaNotAllowed", {
  quota: Name,
  /** Where it was asked for. */
  field: Schema.String,
  allowed: Schema.Finite,
  asked: Schema.Finite
}) {}

/** Who asks is no operator. */
export class OperatorNeeded extends Schema.TaggedError<OperatorNeeded>()("OperatorNeeded", {}) {}
/** Somebody has to be able to set what organizations may use. */
export class LastOperatorKey extends Schema.TaggedError<LastOperatorKey>()("LastOperatorKey", {}) {}

export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  perSecond: Schema.Finite,
  retryAfterSeconds: Schema.Int
}) {}
