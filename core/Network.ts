/** IP addresses and networks as people write them, and how clients are told apart by their address. */
import { readAddress } from "./egress/Address.ts"

export interface Network {
  readonly address: string
  /** How many bits of the address all of the network has in common. */
  readonly bits: number
  readonly family: "ipv4" | "ipv6"
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address; undefined for anything else. */
export const readNetwork = (text: string): Network | undefined => {
  const [address = "", bits, ...more] = text.split("/")
  const bytes = readAddress(address)
  if (bytes === undefined || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
  const all = bytes.length * 8
  const common = bits === undefined ? all : Number(bits)
  return common > all ? undefined : { address, bits: common, family: bytes.length === 4 ? "ipv4" : "ipv6" }
}

const mappedPrefix = "0,0,0,0,0,0,0,0,0,0,255,255"
const groupsOf = (bytes: ReadonlyArray<number>): ReadonlyArray<string> =>
  Array.from({ length: bytes.length / 2 }, (_, at) => (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16))

/** One way of writing each address; an IPv4 address that is mapped into IPv6 is itself again. Undefined for what is no address. */
export const canonicalAddress = (text: string): string | undefined => {
  const bytes = readAddress(text)
  if (bytes === undefined) return undefined
  if (bytes.length === 4) return bytes.join(".")
  if (bytes.slice(0, 12).join() === mappedPrefix) return bytes.slice(12).join(".")
  const whole = groupsOf(bytes).join(":")
  const [longest] = [...whole.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((one, other) => other[0].length - one[0].length)
  if (longest === undefined) return whole
  const { 0: zeros, index } = longest
  return `${whole.slice(0, index)}::${whole.slice(index + zeros.length).replace(/^:/, "")}`
}

const bytesOfSubscriber = 8

/**
 * What is counted against a canonical address: the address itself, or its /64 in IPv6, where one subscriber has all the addresses of such a
 * network. Text that is no address counts as itself.
 */
export const subscriberOf = (address: string): string => {
  if (!address.includes(":")) return address
  const bytes = readAddress(address)
  return bytes === undefined ? address : `${groupsOf(bytes.slice(0, bytesOfSubscriber)).join(":")}::/64`
}
