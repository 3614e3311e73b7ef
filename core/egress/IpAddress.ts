/**
 * IP addresses as text, read by the platform's URL parser. An address with a zone, or in any other form that neither a URL nor a resolver
 * yields, does not count as an address.
 */

/** Whether the text is an IPv4 address in four decimal parts. The URL parser also accepts `0177.0.0.1`, but rewrites it. */
const isV4 = (text: string): boolean => /^\d+(?:\.\d+){3}$/.test(text) && URL.parse(`http://${text}/`)?.hostname === text

/** The shortest spelling of an IPv6 address, in hexadecimal groups throughout. */
const readV6 = (text: string): string | undefined =>
  /^[\da-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) : undefined

const dotted = (high: string, low: string): string =>
  [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join(".")

/** IPv4-mapped addresses: `::ffff:0:0/96`. */
const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/
/** NAT64 addresses: `64:ff9b::/96`. The leading zero groups of the IPv4 address are part of the `::`. */
const translated = /^64:ff9b::(?:(?:([\da-f]+):)?([\da-f]+))?$/

/** One spelling for each address; an IPv4-mapped address becomes its IPv4 address. Undefined for text that is not an address. */
export const canonicalAddress = (text: string): string | undefined => {
  if (!text.includes(":")) return isV4(text) ? text : undefined
  const v6 = readV6(text)
  const [, high, low] = mapped.exec(v6 ?? "") ?? []
  return high === undefined || low === undefined ? v6 : dotted(high, low)
}

/** The canonical address that packets reach: as above, and a NAT64 address becomes the IPv4 address that it translates to. */
export const plainAddress = (text: string): string | undefined => {
  const canonical = canonicalAddress(text)
  const match = translated.exec(canonical ?? "")
  return match === null ? canonical : dotted(match[1] ?? "0", match[2] ?? "0")
}

export const familyOf = (address: string): "ipv4" | "ipv6" => (address.includes(":") ? "ipv6" : "ipv4")
