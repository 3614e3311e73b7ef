/** IP networks in their usual notation, and the part of an address by which limits identify a client. */
import { canonicalAddress, familyOf } from "./IpAddress.ts"

export interface Network {
  readonly address: string
  /** Length of the prefix that all addresses of the network share. */
  readonly bits: number
  readonly family: "ipv4" | "ipv6"
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address. Undefined for anything else. */
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
 * The key under which limits count a canonical address: an IPv4 address itself, or the /64 of an IPv6 address, because one subscriber has all
 * addresses of such a network. Text that is not an address is its own key.
 */
export const subscriberOf = (address: string): string => {
  if (!address.includes(":")) return address
  const [left = [], right = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""))
  const zeros = Array.from({ length: Math.max(0, groupsOfAddress - left.length - right.length) }, () => "0")
  return `${[...left, ...zeros, ...right].slice(0, groupsOfSubscriber).join(":")}::/64`
}
