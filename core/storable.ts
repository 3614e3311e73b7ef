/** Whether Postgres accepts a text: it must have no NUL and no lone surrogate, which UTF-8 cannot encode. JSON can contain both. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** Matches the escapes of a JSON text one after another, so that an escaped backslash is not taken for the start of the next one. */
const escapes = /\\(?:u[0-9a-f]{4}|.)/g
/** The escapes that `JSON.stringify` writes for characters that cannot be stored. */
const unstorable = /^\\u(?:0000|d[89a-f])/

/** JSON with a replacement character for each one that cannot be stored, for data from outside that must be recorded in any case. */
export const storableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.includes("\\u") ? json.replace(escapes, (sequence) => (unstorable.test(sequence) ? "\ufffd" : sequence)) : json
}
