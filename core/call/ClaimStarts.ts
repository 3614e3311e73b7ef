/**
 * Where a campaign's next claim starts to search. Claimed contacts leave dead entries at the front of the indexes that claims search. Without a
 * start, every claim would read past all of them until a vacuum removes them: two hundred thousand for a million contacts, and during a dump,
 * all that were claimed since it began.
 *
 * These starts are only hints. When a contact becomes claimable again, its campaign's start is forgotten, and a claim from the beginning follows
 * a claim that finds too few contacts, and in any case after `LOOK_BACK_MILLIS`.
 */
import type { CampaignId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** The beginning: no contact lies before these. */
const first = { row: 0, dueAt: 0 }
/** The longest wait of a contact that becomes claimable without this process being told. */
const LOOK_BACK_MILLIS = 60_000
const MOST_CAMPAIGNS = 1000

export interface ClaimStart {
  /** No contact up to this row is fresh. */
  readonly row: number
  /** No retry that was due before this is waiting; epoch milliseconds. */
  readonly dueAt: number
}

interface Kept {
  start: ClaimStart
  readonly since: SteadyMillis
}

/** One claim. Its reports have no effect if the campaign was forgotten meanwhile. */
export interface Look {
  readonly start: ClaimStart
  readonly isFromBeginning: boolean
  /** The next claim begins there. */
  readonly reached: (start: Partial<ClaimStart>) => void
  /** It found fewer contacts than it was to claim. */
  readonly over: () => void
}

export class ClaimStarts {
  readonly #kept = new Map<CampaignId, Kept>()
  /** No claim begins later than this among retries; epoch milliseconds. */
  #latest = 0

  /** `dueBy`: retries that were due by then are claimed; epoch milliseconds. */
  look(id: CampaignId, now: SteadyMillis, dueBy: number): Look {
    const kept = this.#current(id, now, dueBy)
    return {
      start: kept.start,
      isFromBeginning: kept.start.row === first.row && kept.start.dueAt === first.dueAt,
      reached: (start) => {
        kept.start = { ...kept.start, ...start }
        this.#latest = Math.max(this.#latest, kept.start.dueAt)
      },
      over: () => {
        kept.start = first
      }
    }
  }

  /** The next claims of these campaigns look from the beginning. */
  forget(ids: ReadonlyArray<CampaignId>): void {
    for (const id of ids) this.#kept.delete(id)
  }

  /** A retry may be recorded so late that claims begin behind it. */
  due(dueAt: number): void {
    if (dueAt > this.#latest) return
    for (const [id, { start }] of this.#kept) if (dueAt <= start.dueAt) this.#kept.delete(id)
  }

  #current(id: CampaignId, now: SteadyMillis, dueBy: number): Kept {
    const known = this.#kept.get(id)
    // After the wall clock was set back, retries fall due before those that were claimed.
    if (known !== undefined && now - known.since < LOOK_BACK_MILLIS && known.start.dueAt <= dueBy) return known
    const kept: Kept = { start: first, since: now }
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MOST_CAMPAIGNS && oldest !== undefined) this.#kept.delete(oldest)
    return kept
  }
}
