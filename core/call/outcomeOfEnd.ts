import { type Outcome, outcomeOf } from "#core/outcome/Outcome.ts"
import type { CallState } from "./Call.ts"

/** What a call has come to. `isMachine`: a machine was heard, whoever ended the call then. */
export const outcomeOfEnd = ({ answeredAt, cause }: CallState & { readonly _tag: "Ended" }, isMachine = false): Outcome =>
  outcomeOf({ answered: answeredAt !== undefined, cause, machine: isMachine })
