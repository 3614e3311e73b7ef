/**
 * A person a campaign calls: one line of its list, and its progress.
 *
 *     pending --its number has opted out--> cancelled        retry_wait --its number has opted out--> failed
 *     pending --claimed--> dialing --answered--> in_call --recorded--> completed, failed, retry_wait
 *     dialing --recorded, never answered--> completed, failed, retry_wait
 *     dialing --the request never left--> pending, or retry_wait or failed if it was a retry
 *     retry_wait --due and claimed--> dialing        retry_wait --the settings allow no more retries--> failed
 *     failed <--an operator says whether the person was reached--> completed
 *
 * The statements that record attempts make these moves; the journey tests check that there are no others.
 *
 * `in_call` is what lists show: the row says `dialing` until the end is recorded, and the live attempt says `answered`. So an answer writes one
 * row instead of two. Rows written by earlier releases may say `in_call` themselves.
 */
import type { Outcome } from "#core/outcome/Outcome.ts"
import type { AgentId, RunId } from "#core/Id.ts"
import { Schema } from "effect"

export const contactStates = ["pending", "dialing", "in_call", "retry_wait", "completed", "failed", "cancelled"] as const
export type ContactState = (typeof contactStates)[number]

/** Where a contact can go from each state. */
export const contactMoves: Readonly<Record<ContactState, ReadonlyArray<ContactState>>> = {
  pending: ["dialing", "cancelled"],
  dialing: ["in_call", "pending", "retry_wait", "completed", "failed"],
  in_call: ["retry_wait", "completed", "failed"],
  retry_wait: ["dialing", "failed"],
  completed: ["failed"],
  failed: ["completed"],
  cancelled: []
}

export class ContactNotFound extends Schema.TaggedError<ContactNotFound>()("ContactNotFound", { rowNumber: Schema.Int }) {}

export interface Contact {
  /** The line of the list; the header is line 1. */
  readonly rowNo: number
  readonly phoneNumber: string
  readonly state: ContactState
  readonly retriesUsed: number
  /** Outcome of the last call that ended. */
  readonly lastOutcome: Outcome | undefined
  /** Why the contact is not dialed, or not dialed again, although its campaign would otherwise dial it. */
  readonly stopReason: "opted_out" | undefined
  /** When a retry falls due. */
  readonly dueAt: Date | undefined
  /** It is passed over until no other call of the organization holds its number. */
  readonly awaitsNumber: boolean
  /** Whether the contact was reached, according to a person. Undefined if nobody has said. */
  readonly reached: boolean | undefined
  /** The newest call. */
  readonly run: { readonly id: RunId; readonly agentId: AgentId } | undefined
}

export interface ContactFilter {
  readonly state: ContactState | undefined
  readonly outcome: Outcome | undefined
  /** `null` selects contacts about whom nobody has said anything. */
  readonly reached: boolean | null | undefined
  readonly stopReason: Contact["stopReason"]
  /** A part of the number: digits. */
  readonly number: string | undefined
}

export interface ContactSelection extends ContactFilter {
  /** Selects lines after this one. */
  readonly after: number | undefined
  readonly limit: number
}

export interface ContactMark {
  readonly rowNumbers: ReadonlyArray<number>
  readonly reached: boolean
}
