/** Errors of the gateway itself. Those of the core are declared beside their concepts. */
import { Schema } from "effect"

export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", { detail: Schema.String }) {}
/** The path names something that does not exist; for routes whose wording differs from the table's. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { detail: Schema.String }) {}
/** A request that fits its schema but makes no sense. */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", { detail: Schema.String }) {}
/** The file belongs to another organization. */
export class FileForbidden extends Schema.TaggedError<FileForbidden>()("FileForbidden", { detail: Schema.String }) {}
export class FileKeyInvalid extends Schema.TaggedError<FileKeyInvalid>()("FileKeyInvalid", {}) {}
/** Calls have no files of that kind. */
export class ArtifactUnsupported extends Schema.TaggedError<ArtifactUnsupported>()("ArtifactUnsupported", {}) {}
/** The link has expired or was altered. */
export class LinkRefused extends Schema.TaggedError<LinkRefused>()("LinkRefused", {}) {}
/** This node cannot work now. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { detail: Schema.String }) {}
/** An earlier request with the same `Idempotency-Key` is still in progress. */
export class IdempotencyKeyInFlight extends Schema.TaggedError<IdempotencyKeyInFlight>()("IdempotencyKeyInFlight", {}) {}
/** The `Idempotency-Key` belongs to a request with different content. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {}
/** The request cannot be carried out; for routes whose wording differs from the table's. */
export class NotPossible extends Schema.TaggedError<NotPossible>()("NotPossible", { detail: Schema.String }) {}
/** A websocket path was requested without an upgrade. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {}) {}
