/**
 * There is no room, or not as much time as it takes. No caller inside can do anything about these, so they are defects, and pass all that
 * handles errors on their way to the gateway, which tells whoever asked to come back. Whatever was begun is undone.
 */
import { Schema } from "effect"

/** The one who asks has as much under way, or waiting, as one may have. */
export class TooManyAtOnce extends Schema.TaggedError<TooManyAtOnce>()("TooManyAtOnce", { retryAfterSeconds: Schema.Int }) {}
/** Everybody together has, or nothing became free in time. */
export class TooBusy extends Schema.TaggedError<TooBusy>()("TooBusy", { retryAfterSeconds: Schema.Int }) {}
/** A statement was cut off. */
export class TookTooLong extends Schema.TaggedError<TookTooLong>()("TookTooLong", { retryAfterSeconds: Schema.Int }) {}

export type Overload = TooManyAtOnce | TooBusy | TookTooLong

export const isOverload = (defect: unknown): defect is Overload =>
  defect instanceof TooManyAtOnce || defect instanceof TooBusy || defect instanceof TookTooLong
