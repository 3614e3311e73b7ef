/**
 * Which IP addresses are out on the internet, and not on this machine, in this network, or special in some other way: what a webhook of a
 * stranger may be sent to. What is not known to be public is not: https://www.iana.org/assignments/iana-ipv4-special-registry and
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

const specialV4: ReadonlyArray<Block> = [
  [[0], 8], // this network
  [[10], 8], // private
  [[100, 64], 10], // shared by a carrier's customers
  [[127], 8], // loopback
  [[169, 254], 16], // link-local, and with it the metadata services of clouds
  [[172, 16], 12], // private
  [[192, 0, 0], 24], // protocol assignments
  [[192, 0, 2], 24], // documentation
  [[192, 31, 196], 24], // AS112
  [[192, 52, 193], 24], // automatic multicast tunneling
  [[192, 88, 99], 24], // 6to4 relays
  [[192, 168], 16], // private
  [[192, 175, 48], 24], // AS112
  [[198, 18], 15], // benchmarks
  [[198, 51, 100], 24], // documentation
  [[203, 0, 113], 24], // documentation
  [[224], 4], // multicast
  [[240], 4] // reserved, and broadcast
]

const globalV6: Block = [[0x20], 3]
const specialV6: ReadonlyArray<Block> = [
  [[0x20, 0x01, 0x00], 23], // protocol assignments, Teredo among them
  [[0x20, 0x01, 0x0d, 0xb8], 32], // documentation
  [[0x20, 0x02], 16], // 6to4: any IPv4 address may hide in it
  [[0x26, 0x20, 0x00, 0x4f, 0x80, 0x00], 48], // AS112
  [[0x3f, 0xff, 0x00], 20] // documentation
]
const twelveBytes = (...bytes: Bytes): Bytes => [...bytes, ...Array.from({ length: 12 - bytes.length }, () => 0)]
/** What ends in an IPv4 address that is the one really meant: mapped addresses, and those that NAT64 translates. */
const wrapped: ReadonlyArray<Block> = [
  [[...twelveBytes().slice(0, 10), 0xff, 0xff], 96],
  [twelveBytes(0x00, 0x64, 0xff, 0x9b), 96]
]

const isPublicBytes = (address: Bytes): boolean => {
  if (address.length === 4) return !specialV4.some(isIn(address))
  if (wrapped.some(isIn(address))) return isPublicBytes(address.slice(12))
  return isIn(address)(globalV6) && !specialV6.some(isIn(address))
}

/** False also for what is no address at all. */
export const isPublicAddress = (text: string): boolean => {
  const address = readAddress(text)
  return address !== undefined && isPublicBytes(address)
}
