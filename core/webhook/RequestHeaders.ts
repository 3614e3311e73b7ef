/** The headers of a request that a client of the API has a say in. */

export type Headers = ReadonlyArray<readonly [name: string, value: string]>

/** What says where a message ends, or is for the next hop alone, is the sender's business. */
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

/** Without the characters that no header may have. */
export const oneLine = (value: string): string =>
  [...value]
    .filter((character) => character === "\t" || (character >= " " && character !== "\u007f"))
    .join("")
    .trim()

/** Text beyond Latin-1 goes as the bytes of UTF-8, one character for each: what node:http takes, and what most servers read. */
const onTheWire = (value: string): string => String.fromCharCode(...new TextEncoder().encode(value))

/**
 * Of two that differ in capitals alone, the later wins; the engine's own come before and after the credential's. Undefined: the credential
 * makes none that can be sent.
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
