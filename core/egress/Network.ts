/** IP addresses and networks as people write them, and how clients are told apart by their address. */
import { groupsOf, readAddress } from "./IpAddress.ts"

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
