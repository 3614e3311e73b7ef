/** Port: read a list of contacts that was uploaded. Where the bytes lie and how they become cells is not the campaign's business. */
import { Context, type Effect, Schema, type Scope } from "effect"
import type { OrganizationId } from "#core/Id.ts"

/** Unknown, another organization's, or never uploaded. */
export class SourceNotFound extends Schema.TaggedError<SourceNotFound>()("SourceNotFound", { sourceId: Schema.String }) {}

/** The uploaded list was refused; `reason` names rows. */
export class SourceRefused extends Schema.TaggedError<SourceRefused>()("SourceRefused", { reason: Schema.String }) {}

export interface SourceRecords {
  /** The next few thousand records at most, as cells; the first record is the header, blank lines are left out. Empty at the end. */
  readonly next: Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, SourceRefused>
  /** SHA-256 of the bytes, hexadecimal. To be asked for after the end. */
  readonly hash: Effect.Effect<string>
  /**
   * A campaign was made of it: it stays. To be run last in the transaction that makes the campaign; fails when the list was given up while
   * it was read.
   */
  readonly keep: Effect.Effect<void, SourceNotFound>
  /** Whether the number is possible in its country's numbering plan. A doubt is a warning, never a refusal. */
  readonly isPlausible: (e164: string) => boolean
}

/** The template names that a campaign's contacts bring; kept with the campaign, to check later versions of its agent against. */
export interface SourceVariables {
  readonly names: ReadonlyArray<string>
  /** Those that are empty in at least one contact. */
  readonly empty: ReadonlyArray<string>
}

export class ContactSource extends Context.Service<
  ContactSource,
  {
    readonly read: (
      organizationId: OrganizationId,
      sourceId: string
    ) => Effect.Effect<SourceRecords, SourceNotFound | SourceRefused, Scope.Scope>
  }
>()("core/contact/ContactSource") {}
