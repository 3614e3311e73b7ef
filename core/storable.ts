/** What Postgres takes as text: no NUL, and no half of a surrogate pair, which is nothing in UTF-8. JSON can name both. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** Each escape of a JSON text in turn, so that a backslash which is itself escaped is not taken for the beginning of one. */
const escapes = /\\(?:u[0-9a-f]{4}|.)/g
/** Those that `JSON.stringify` writes for what cannot be stored. */
const unstorable = /^\\u(?:0000|d[89a-f])/

/** JSON with a replacement character for each that cannot be stored: for what others say, which has to be recorded whatever it is. */
export const storableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.includes("\\u") ? json.replace(escapes, (sequence) => (unstorable.test(sequence) ? "\ufffd" : sequence)) : json
}
