import { Result } from "effect"

/** The value, or undefined if reading it throws. */
export const attempt = <A>(read: () => A): A | undefined => Result.getOrUndefined(Result.try(read))
