/** Somebody a campaign is to call: one line of its list, and what has come of it so far. */
import type { Outcome } from "#core/outcome/Outcome.ts"
import type { AgentId, RunId } from "#core/Id.ts"

export const contactStates = ["pending", "dialing", "in_call", "retry_wait", "completed", "failed", "cancelled"] as const
export type ContactState = (typeof contactStates)[number]

export interface Contact {
  /** The line of the list; the header is line 1. */
  readonly rowNo: number
  readonly phoneNumber: string
  readonly state: ContactState
  readonly retriesUsed: number
  /** Of the last call that ended. */
  readonly lastOutcome: Outcome | undefined
  /** When a retry falls due. */
  readonly dueAt: Date | undefined
  /** What a person said; undefined when nobody has. */
  readonly reached: boolean | undefined
  /** The newest call. */
  readonly run: { readonly id: RunId; readonly agentId: AgentId } | undefined
}

export interface ContactSelection {
  readonly state: ContactState | undefined
  readonly outcome: Outcome | undefined
  /** `null`: those of whom nobody has said whether they were reached. */
  readonly reached: boolean | null | undefined
  /** Only lines that follow this one. */
  readonly after: number | undefined
  readonly limit: number
}

export interface ContactMark {
  readonly rowNumbers: ReadonlyArray<number>
  readonly reached: boolean
}
