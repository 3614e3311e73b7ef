import { type Outcome, outcomeOf } from "#core/outcome/Outcome.ts"
import type { CallState } from "./Call.ts"

/** The outcome of a call that has ended. `isMachine`: a machine was detected, no matter who ended the call then. */
export const outcomeOfEnd = ({ answeredAt, cause }: CallState & { readonly _tag: "Ended" }, isMachine = false): Outcome =>
  outcomeOf({ answered: answeredAt !== undefined, cause, machine: isMachine })
