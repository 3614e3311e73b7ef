/**
 * A request found no room, or took too long. The code it passes through cannot do anything about that, so these are defects: they bypass all error
 * handling up to the gateway, which tells the client to come back later. Whatever was begun is rolled back.
 */
import { Schema } from "effect"

/** The user already has as many requests waiting as one user may have. */
export class TooManyAtOnce extends Schema.TaggedError<TooManyAtOnce>()("TooManyAtOnce", { retryAfterSeconds: Schema.Int }) {}
/** All users together have as many waiting as is allowed, or no place became free in time. */
export class TooBusy extends Schema.TaggedError<TooBusy>()("TooBusy", { retryAfterSeconds: Schema.Int }) {}
/** A statement was cancelled at its deadline. */
export class TookTooLong extends Schema.TaggedError<TookTooLong>()("TookTooLong", { retryAfterSeconds: Schema.Int }) {}

export type Overload = TooManyAtOnce | TooBusy | TookTooLong

export const isOverload = (defect: unknown): defect is Overload =>
  defect instanceof TooManyAtOnce || defect instanceof TooBusy || defect instanceof TookTooLong
