/**
 * What an organization may use: each quota is declared here, and nowhere else. The operator sets it, and the organization may lower it for
 * itself. The defaults apply where nothing is set: they exceed what one company needs on one machine, and bound what an intruder can use up.
 */
import { Schema } from "effect"

const gibibyte = 1024 ** 3
const mostThings = 1_000_000

interface QuotaDeclaration {
  readonly default: number
  /** The least and the most that it can be set to. */
  readonly minimum: number
  readonly maximum: number
  /** What is limited, as the API documents it. */
  readonly description: string
  /**
   * Where its use is counted: by triggers in the table `quotas`, from the live calls, by each engine from its open connections, or
   * nowhere.
   */
  readonly counted: "triggers" | "calls" | "connections" | "nowhere"
  /** Whether the organization may lower it for itself. A request rate of nearly zero could hardly be raised again. */
  readonly canLower: boolean
}

/** In the order in which the API shows them. */
const quotas = {
  calls: {
    /** The installation can set another default (`ORG_CONCURRENCY`). */
    default: 10,
    minimum: 0,
    maximum: 100_000,
    description: "Calls up at once. Calls that are up when it is lowered go on.",
    counted: "calls",
    canLower: true
  },
  storage_bytes: {
    default: 1024 * gibibyte,
    minimum: 0,
    maximum: 2 ** 50,
    description: "Bytes of stored files: lists, recordings, transcripts and documents.",
    counted: "triggers",
    canLower: true
  },
  rows: {
    default: 50_000_000,
    minimum: 0,
    maximum: 10_000_000_000,
    description: "Stored contacts of all campaigns together.",
    counted: "triggers",
    canLower: true
  },
  agents: {
    default: 10_000,
    minimum: 0,
    maximum: mostThings,
    description: "Agents, including archived ones.",
    counted: "triggers",
    canLower: true
  },
  keys: {
    default: 1000,
    minimum: 0,
    maximum: mostThings,
    description: "API keys that are not archived.",
    counted: "triggers",
    canLower: true
  },
  text_chats: {
    default: 100,
    minimum: 0,
    maximum: mostThings,
    description: "Text chats that are open. One ends by itself when nobody writes any more.",
    counted: "triggers",
    canLower: true
  },
  text_chat_turns: {
    default: 200,
    minimum: 1,
    maximum: 1000,
    description: "Turns of one text chat, including those that were taken back.",
    counted: "nowhere",
    canLower: true
  },
  followers: {
    default: 100,
    minimum: 0,
    maximum: mostThings,
    description: "Connections that follow events, on each engine.",
    counted: "connections",
    canLower: true
  },
  requests_per_second: {
    default: 2000,
    minimum: 1,
    maximum: mostThings,
    description: "Authenticated requests per second in the long run, on each engine.",
    counted: "nowhere",
    canLower: false
  },
  request_burst: {
    default: 10_000,
    minimum: 1,
    maximum: mostThings,
    description: "Requests at once, before the rate counts.",
    counted: "nowhere",
    canLower: false
  }
} as const satisfies Readonly<Record<string, QuotaDeclaration>>

export type QuotaName = keyof typeof quotas
export const quotaDeclarations: Readonly<Record<QuotaName, QuotaDeclaration>> = quotas
// The cast holds because the keys of the record are the names of the quotas.
export const quotaNames = Object.keys(quotas) as ReadonlyArray<QuotaName>

/** A value for each of these quotas. */
export const eachOf = <Name extends QuotaName, A>(names: ReadonlyArray<Name>, make: (name: Name) => A): Readonly<Record<Name, A>> =>
  // The cast holds because there is one entry for each name.
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, A>

export type QuotaDefaults = Readonly<Record<QuotaName, number>>
export const defaultQuotas: QuotaDefaults = eachOf(quotaNames, (name) => quotas[name].default)

type Lowerable = { [Name in QuotaName]: (typeof quotas)[Name]["canLower"] extends true ? Name : never }[QuotaName]
/** The quotas that an organization may lower for itself. */
export const lowerableQuotas = quotaNames.filter((name): name is Lowerable => quotas[name].canLower)

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
