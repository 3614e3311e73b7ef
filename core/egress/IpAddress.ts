/**
 * What an IP address stands for, as far as the engine has to know before it connects: the internet, this machine and private networks, or
 * something else. What is not known to be public is not: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * .../iana-ipv6-special-registry.
 */

type Bytes = ReadonlyArray<number>
type Block = readonly [prefix: Bytes, bits: number]

const v4Part = /^(?:0|[1-9]\d{0,2})$/
const readV4 = (text: string): Bytes | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => v4Part.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

const v6Part = /^[0-9a-f]{1,4}$/i
const readGroups = (text: string): Bytes | undefined => {
  if (text === "") return []
  const bytes: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 && part.includes(".") ? readV4(part) : undefined
    if (v4 !== undefined) bytes.push(...v4)
    else if (v6Part.test(part)) bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255)
    else return undefined
  }
  return bytes
}

const readV6 = (text: string): Bytes | undefined => {
  const [head = "", tail, ...more] = text.split("::")
  const left = readGroups(head)
  const right = tail === undefined ? [] : readGroups(tail)
  if (left === undefined || right === undefined || more.length > 0) return undefined
  const missing = 16 - left.length - right.length
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined
  return [...left, ...Array.from({ length: missing }, () => 0), ...right]
}

/** The 4 or 16 bytes of an address as URLs and resolvers write it; undefined for anything else, such as an address with a zone. */
export const readAddress = (text: string): Bytes | undefined => (text.includes(":") ? readV6(text) : readV4(text))

const isIn =
  (address: Bytes) =>
  ([prefix, bits]: Block): boolean =>
    prefix.every((byte, index) => {
      const left = Math.min(8, Math.max(0, bits - index * 8))
      return (byte ^ (address[index] ?? 0)) >> (8 - left) === 0
    })

/** Where clouds tell a machine its own secrets, beside the link-local 169.254.169.254. */
const metadataV4: ReadonlyArray<Block> = [
  [[100, 100, 100, 200], 32], // Alibaba
  [[168, 63, 129, 16], 32], // Azure
  [[192, 0, 0, 192], 32] // Oracle
]
const neverV4: ReadonlyArray<Block> = [
  ...metadataV4,
  [[0], 8], // this network; most systems take 0.0.0.0 for this machine
  [[169, 254], 16], // link-local
  [[224], 4], // multicast
  [[255, 255, 255, 255], 32] // broadcast
]
const insideV4: ReadonlyArray<Block> = [
  [[10], 8], // private
  [[100, 64], 10], // shared by a carrier's customers; overlay networks use it too
  [[127], 8], // loopback
  [[172, 16], 12], // private
  [[192, 168], 16] // private
]
const specialV4: ReadonlyArray<Block> = [
  [[192, 0, 0], 24], // protocol assignments
  [[192, 0, 2], 24], // documentation
  [[192, 31, 196], 24], // AS112
  [[192, 52, 193], 24], // automatic multicast tunneling
  [[192, 88, 99], 24], // 6to4 relays
  [[192, 175, 48], 24], // AS112
  [[198, 18], 15], // benchmarks
  [[198, 51, 100], 24], // documentation
  [[203, 0, 113], 24], // documentation
  [[240], 4] // reserved
]

const sixteen = (start: Bytes, ...end: Bytes): Bytes => [
  ...start,
  ...Array.from({ length: 16 - start.length - end.length }, () => 0),
  ...end
]
const neverV6: ReadonlyArray<Block> = [
  [sixteen([]), 128], // unspecified
  [[0xfe, 0x80], 10], // link-local
  [[0xff], 8], // multicast
  [sixteen([0xfd, 0x00, 0x0e, 0xc2], 0x02, 0x54), 128], // metadata of AWS
  [sixteen([0xfd, 0x20, 0x00, 0xce], 0x02, 0x54), 128] // metadata of Google Cloud
]
const insideV6: ReadonlyArray<Block> = [
  [sixteen([], 1), 128], // loopback
  [[0xfc], 7] // private
]
const globalV6: Block = [[0x20], 3]
const specialV6: ReadonlyArray<Block> = [
  [[0x20, 0x01, 0x00], 23], // protocol assignments, Teredo among them
  [[0x20, 0x01, 0x0d, 0xb8], 32], // documentation
  [[0x20, 0x02], 16], // 6to4: any IPv4 address may hide in it
  [[0x26, 0x20, 0x00, 0x4f, 0x80, 0x00], 48], // AS112
  [[0x3f, 0xff, 0x00], 20] // documentation
]
const mapped: Block = [[...Array.from({ length: 10 }, () => 0), 0xff, 0xff], 96]
const isMapped = (address: Bytes): boolean => address.length === 16 && isIn(address)(mapped)
/** What ends in an IPv4 address that is the one really meant: mapped addresses, and those that NAT64 translates. */
const wrapped: ReadonlyArray<Block> = [mapped, [[0x00, 0x64, 0xff, 0x9b, ...Array.from({ length: 8 }, () => 0)], 96]]
const unwrapped = (address: Bytes): Bytes => (address.length === 16 && wrapped.some(isIn(address)) ? address.slice(12) : address)

/**
 * - `public`: on the internet.
 * - `inside`: this machine, or a private network.
 * - `special`: reserved for something else, such as documentation.
 * - `never`: nothing that anybody has a reason to have us connect to: link-local, metadata services of clouds, multicast, broadcast.
 */
type Reach = "public" | "inside" | "special" | "never"

const reachOfBytes = (address: Bytes): Reach => {
  const isAmong = (blocks: ReadonlyArray<Block>) => blocks.some(isIn(address))
  const isV4 = address.length === 4
  if (isAmong(isV4 ? neverV4 : neverV6)) return "never"
  if (isAmong(isV4 ? insideV4 : insideV6)) return "inside"
  if (isV4) return isAmong(specialV4) ? "special" : "public"
  return isIn(address)(globalV6) && !isAmong(specialV6) ? "public" : "special"
}

/** `never` also for what is no address at all. */
export const reachOf = (text: string): Reach => {
  const address = readAddress(text)
  return address === undefined ? "never" : reachOfBytes(unwrapped(address))
}

export const isPublicAddress = (text: string): boolean => reachOf(text) === "public"

export const groupsOf = (bytes: Bytes): ReadonlyArray<string> =>
  Array.from({ length: bytes.length / 2 }, (_, at) => (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16))

const written = (bytes: Bytes): string => {
  if (bytes.length === 4) return bytes.join(".")
  const whole = groupsOf(bytes).join(":")
  const [longest] = [...whole.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((one, other) => other[0].length - one[0].length)
  if (longest === undefined) return whole
  const { 0: zeros, index } = longest
  return `${whole.slice(0, index)}::${whole.slice(index + zeros.length).replace(/^:/, "")}`
}

/** One way of writing each address; an IPv4 address that is mapped into IPv6 is itself again. Undefined for what is no address. */
export const canonicalAddress = (text: string): string | undefined => {
  const address = readAddress(text)
  return address === undefined ? undefined : written(isMapped(address) ? address.slice(12) : address)
}

/** The same of where it leads to: an IPv4 address that NAT64 translates is itself again, too. */
export const plainAddress = (text: string): string | undefined => {
  const address = readAddress(text)
  return address === undefined ? undefined : written(unwrapped(address))
}
