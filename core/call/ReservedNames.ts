/** Names in the context of a call that only the engine may give a meaning to: whoever else brings them is not heard. */
export const reservedNames: ReadonlyArray<string> = ["provider", "runtime_configuration", "mps_correlation_id", "called_number"]
