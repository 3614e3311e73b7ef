/** Port: reads an uploaded list of contacts. It hides where the bytes are stored and how they are split into cells. */
import { Context, type Effect, Schema, type Scope } from "effect"
import type { FilesAway } from "#core/FilesAway.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { NumberingPlan } from "#core/telephony/WrittenNumber.ts"

/** The list is unknown, belongs to another organization, or was never uploaded. */
export class SourceNotFound extends Schema.TaggedError<SourceNotFound>()("SourceNotFound", { sourceId: Schema.String }) {}

/** The uploaded list was refused; `reason` names rows. */
export class SourceRefused extends Schema.TaggedError<SourceRefused>()("SourceRefused", { reason: Schema.String }) {}

export interface SourceRecords {
  /** The next few thousand records at most, as cells; the first record is the header, blank lines are left out. Empty at the end. */
  readonly next: Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, SourceRefused>
  /** SHA-256 of the bytes, hexadecimal. Available after the end. */
  readonly hash: Effect.Effect<string>
  /**
   * Keeps the list, because a campaign was created from it. Must run last in the transaction that creates the campaign; fails if the list was
   * abandoned while it was read.
   */
  readonly keep: Effect.Effect<void, SourceNotFound>
  readonly plan: NumberingPlan
}

/**
 * The template names that a campaign's contacts provide. They are stored with the campaign, so that later versions of its agent can be
 * checked.
 */
export interface SourceVariables {
  readonly names: ReadonlyArray<string>
  /** Names that are empty in at least one contact. */
  readonly empty: ReadonlyArray<string>
}

export class ContactSource extends Context.Service<
  ContactSource,
  {
    readonly read: (
      organizationId: OrganizationId,
      sourceId: string
    ) => Effect.Effect<SourceRecords, FilesAway | SourceNotFound | SourceRefused, Scope.Scope>
  }
>()("core/contact/ContactSource") {}
