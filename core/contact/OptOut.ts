/**
 * A number that has opted out: the organization no longer dials it, neither in campaigns nor in single calls. Other organizations still may.
 * Opt-outs are kept until somebody in the organization removes them; no retention period applies, because the promise has none.
 */
import { Schema } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"

export const OptOutId = Schema.Int.pipe(Schema.brand("OptOutId"))
export type OptOutId = typeof OptOutId.Type

/**
 * - `call`: the callee said so in a call.
 * - `api`: a client of the API did.
 */
export const optOutSources = ["call", "api"] as const
export type OptOutSource = (typeof optOutSources)[number]

export interface OptOut {
  readonly id: OptOutId
  readonly organizationId: OrganizationId
  /** As it would be dialed: E.164, or an extension that was called. */
  readonly phoneNumber: string
  readonly source: OptOutSource
  /** The run of the call in which it was heard. */
  readonly runId: RunId | undefined
  readonly createdAt: Date
}

export interface OptOutSelection {
  readonly phoneNumber: string | undefined
  /** Selects the numbers after this one. */
  readonly after: string | undefined
  readonly limit: number
}

/** The most numbers that one request adds. */
export const mostOptOuts = 1000

/** The organization must not call the number. */
export class NumberOptedOut extends Schema.TaggedError<NumberOptedOut>()("NumberOptedOut", {}) {}
export class OptOutNotFound extends Schema.TaggedError<OptOutNotFound>()("OptOutNotFound", {}) {}
