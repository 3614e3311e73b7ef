/**
 * Classifies an IP address before the engine connects to it. An address that is not known to be public does not count as public:
 * https://www.iana.org/assignments/iana-ipv4-special-registry and .../iana-ipv6-special-registry.
 */
import { BlockList } from "node:net"
import { familyOf, plainAddress } from "#core/egress/IpAddress.ts"
import { type Network, readNetwork } from "#core/egress/Network.ts"

export const blockListOf = (networks: ReadonlyArray<Network>): BlockList => {
  const list = new BlockList()
  for (const { address, bits, family } of networks) list.addSubnet(address, bits, family)
  return list
}
const listOf = (...networks: ReadonlyArray<string>): BlockList => blockListOf(networks.flatMap((text) => readNetwork(text) ?? []))

const never = listOf(
  "100.100.100.200", // metadata of Alibaba Cloud
  "168.63.129.16", // metadata of Azure
  "192.0.0.192", // metadata of Oracle Cloud
  "0.0.0.0/8", // this network; most systems take 0.0.0.0 for this machine
  "169.254.0.0/16", // link-local, where most clouds have their metadata
  "224.0.0.0/4", // multicast
  "255.255.255.255", // broadcast
  "::", // unspecified
  "fe80::/10", // link-local
  "ff00::/8", // multicast
  "fd00:ec2::254", // metadata of AWS
  "fd20:ce::254" // metadata of Google Cloud
)

const inside = listOf(
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by a carrier's customers; overlay networks use it too
  "127.0.0.0/8", // loopback
  "172.16.0.0/12", // private
  "192.168.0.0/16", // private
  "::1", // loopback
  "fc00::/7" // private
)

const special = listOf(
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // automatic multicast tunneling
  "192.88.99.0/24", // 6to4 relays
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "240.0.0.0/4", // reserved
  "2001::/23", // protocol assignments, Teredo among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: any IPv4 address may hide in it
  "2620:4f:8000::/48", // AS112
  "3fff::/20" // documentation
)

/** The address space from which public addresses are assigned, in each family. */
const assigned = listOf("0.0.0.0/0", "2000::/3")

/**
 * - `public`: on the internet.
 * - `inside`: this machine, or a private network.
 * - `special`: reserved for something else, such as documentation.
 * - `never`: nobody has a reason to have the engine connect there: link-local, metadata services of clouds, multicast, broadcast.
 */
type Reach = "public" | "inside" | "special" | "never"

/** An IPv4-mapped or NAT64 address counts as the IPv4 address that it contains. Text that is not an address is `never`. */
export const reachOf = (text: string): Reach => {
  const address = plainAddress(text)
  if (address === undefined) return "never"
  const isIn = (list: BlockList) => list.check(address, familyOf(address))
  if (isIn(never)) return "never"
  if (isIn(inside)) return "inside"
  return isIn(assigned) && !isIn(special) ? "public" : "special"
}
