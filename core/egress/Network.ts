/** IP networks as people write them, and how clients are told apart by their address. */
import { canonicalAddress, familyOf } from "./IpAddress.ts"

export interface Network {
  readonly address: string
  /** Length of the prefix that all addresses of the network share. */
  readonly bits: number
  readonly family: "ipv4" | "ipv6"
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address; undefined for anything else. */
export const readNetwork = (text: string): Network | undefined => {
  const [address = "", bits, ...more] = text.split("/")
  if (canonicalAddress(address) === undefined || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
  const family = familyOf(address)
  const longest = family === "ipv4" ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits)
  return prefix > longest ? undefined : { address, bits: prefix, family }
}

const groupsOfAddress = 8
const groupsOfSubscriber = 4

/**
 * What limits count for a canonical address: the address itself, or its /64 in IPv6, because one subscriber has all addresses of such a
 * network. Text that is not an address counts as itself.
 */
export const subscriberOf = (address: string): string => {
  if (!address.includes(":")) return address
  const [left = [], right = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""))
  const zeros = Array.from({ length: Math.max(0, groupsOfAddress - left.length - right.length) }, () => "0")
  return `${[...left, ...zeros, ...right].slice(0, groupsOfSubscriber).join(":")}::/64`
}
