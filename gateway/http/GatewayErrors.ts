/** What the gateway itself refuses a request with; what the core refuses it with is declared beside its concept. */
import { Schema } from "effect"

export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", { detail: Schema.String }) {}
/** What the path names is not there; for routes whose wording differs from the table's. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { detail: Schema.String }) {}
/** A request that fits its schema and makes no sense. */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", { detail: Schema.String }) {}
/** A file that is not this organization's. */
export class FileForbidden extends Schema.TaggedError<FileForbidden>()("FileForbidden", { detail: Schema.String }) {}
export class FileKeyInvalid extends Schema.TaggedError<FileKeyInvalid>()("FileKeyInvalid", {}) {}
/** A call has no files of that kind. */
export class ArtifactUnsupported extends Schema.TaggedError<ArtifactUnsupported>()("ArtifactUnsupported", {}) {}
/** An expired or altered address. */
export class LinkRefused extends Schema.TaggedError<LinkRefused>()("LinkRefused", {}) {}
/** This node cannot do its work. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { detail: Schema.String }) {}
/** A request with the same `Idempotency-Key` has no answer yet. */
export class IdempotencyKeyInFlight extends Schema.TaggedError<IdempotencyKeyInFlight>()("IdempotencyKeyInFlight", {}) {}
/** The `Idempotency-Key` of a request of other content. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {}
/** What cannot be done as asked; for routes whose wording differs from the table's. */
export class NotPossible extends Schema.TaggedError<NotPossible>()("NotPossible", { detail: Schema.String }) {}
/** The path is one for websockets, and was asked for without an upgrade. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {}) {}
