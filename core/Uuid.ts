/** UUIDs as text. A text of any other form identifies nothing, and never reaches the database. */

/** A canonical UUID, lower-case, as part of a regular expression. */
export const uuidPattern = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const canonical = new RegExp(`^${uuidPattern}$`)

/** Accepts lower and upper case, because clients write both. */
export const isUuid = (text: string): boolean => canonical.test(text.toLowerCase())
/** Accepts lower case only, as the engine writes it. */
export const isCanonicalUuid = (text: string): boolean => canonical.test(text)
