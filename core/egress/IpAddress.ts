/**
 * IP addresses as text. The platform's URL parser reads them; an address with a zone, or in any other form that a URL or a resolver does not
 * give, is none.
 */

/** An IPv4 address in four decimal parts. A URL's parser also takes `0177.0.0.1`, and rewrites it. */
const isV4 = (text: string): boolean => /^\d+(?:\.\d+){3}$/.test(text) && URL.parse(`http://${text}/`)?.hostname === text

/** The shortest spelling of an IPv6 address, in hexadecimal groups throughout. */
const readV6 = (text: string): string | undefined =>
  /^[\da-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) : undefined

const dotted = (high: string, low: string): string =>
  [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join(".")

/** `::ffff:0:0/96` */
const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/
/** `64:ff9b::/96`. The zeros of a small IPv4 address are part of the `::`. */
const translated = /^64:ff9b::(?:(?:([\da-f]+):)?([\da-f]+))?$/

/** One spelling for each address; an IPv4-mapped address becomes its IPv4 address. Undefined for text that is not an address. */
export const canonicalAddress = (text: string): string | undefined => {
  if (!text.includes(":")) return isV4(text) ? text : undefined
  const v6 = readV6(text)
  const [, high, low] = mapped.exec(v6 ?? "") ?? []
  return high === undefined || low === undefined ? v6 : dotted(high, low)
}

/** The canonical address at which packets arrive: as above, and an address that NAT64 translates becomes its IPv4 address, too. */
export const plainAddress = (text: string): string | undefined => {
  const canonical = canonicalAddress(text)
  const match = translated.exec(canonical ?? "")
  return match === null ? canonical : dotted(match[1] ?? "0", match[2] ?? "0")
}

export const familyOf = (address: string): "ipv4" | "ipv6" => (address.includes(":") ? "ipv6" : "ipv4")
