/** The headers of outgoing requests to which clients of the API may add their own. */

export type Headers = ReadonlyArray<readonly [name: string, value: string]>

/** Headers that clients cannot add, because they delimit or address the message, or are meant for the next hop only. */
const framing = [
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
export const isSendable = (name: string): boolean => headerName.test(name) && !framing.includes(name.toLowerCase())

/** The value without the characters that a header must not contain, and trimmed. */
export const oneLine = (value: string): string =>
  [...value]
    .filter((character) => character === "\t" || (character >= " " && character !== "\u007f"))
    .join("")
    .trim()

/** Encodes text as UTF-8, one character per byte. node:http accepts only Latin-1 characters, and most servers read the bytes as UTF-8. */
const onTheWire = (value: string): string => String.fromCharCode(...new TextEncoder().encode(value))

/**
 * Merges headers: `before`, the credential's, then `after`. Names are compared without case, and the last value wins. Undefined if the
 * credential's header cannot be sent.
 */
export const writtenHeaders = (
  before: Headers,
  credential: Headers[number] | undefined,
  after: Headers = []
): Readonly<Record<string, string>> | undefined => {
  if (credential !== undefined && (!isSendable(credential[0]) || oneLine(credential[1]) !== credential[1].trim())) return undefined
  const all: Headers = [...before, ...(credential === undefined ? [] : [credential]), ...after]
  const byName = new Map(all.map(([name, value]) => [name.toLowerCase(), [name, onTheWire(value)] as const]))
  return Object.fromEntries(byName.values())
}
