import fc from "fast-check"
import { BlockList, isIP } from "node:net"
import t, { type Test } from "tap"
import { canonicalAddress, familyOf, plainAddress } from "#core/egress/IpAddress.ts"
import { reachOf } from "#runtime/egress/reach.ts"
import { forAll, forAllOf } from "#test/support/forAll.ts"

const isPublicAddress = (address: string): boolean => reachOf(address) === "public"

const check = (addresses: ReadonlyArray<string>, expected: boolean) => async (t: Test) => {
  for (const address of addresses) t.equal(isPublicAddress(address), expected, address)
}

const text = (bytes: ReadonlyArray<number>) => bytes.join(".")
const groups = (bytes: ReadonlyArray<number>) =>
  Array.from({ length: bytes.length / 2 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(":")
const bytes = (length: number) => fc.array(fc.nat(255), { minLength: length, maxLength: length })

t.test("given numeric addresses", async (t) => {
  const inside = [
    ...["0.0.0.0", "0.255.255.255", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
    ...["172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255"],
    ...["198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"]
  ]
  const outside = [
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
    ...["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"],
    ...["198.20.0.0", "223.255.255.255"]
  ]
  const insideSix = [
    ...["::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "ff02::1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1"],
    ...["2002:808:808::1", "3fff::1", "4000::1", "5f00::1", "::8.8.8.8", "64:ff9b:1::808:808", "::ffff:0:8.8.8.8"]
  ]
  const none = [
    ...["", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.1.1.1", "0x8.8.8.8", "8.8.8.8 ", "134744072", "fe80::1%eth0"],
    ...[
      "2606:4700::1%1",
      ":::",
      "1::2::3",
      "2606:4700",
      "2606:4700:0:0:0:0:0:0:1",
      "2606:4700::g",
      "::ffff:999.1.1.1",
      "8.8.8.8::",
      "12345::"
    ]
  ]
  const wrapped = (all: ReadonlyArray<string>) => all.flatMap((address) => [`::ffff:${address}`, `64:ff9b::${address}`])
  t.test("when they are special in IPv4, then they are not public", check(inside, false))
  t.test("when they are not, then they are", check(outside, true))
  t.test("when they are special in IPv6, then they are not public", check(insideSix, false))
  const outsideSix = ["2606:4700::1111", "2a00:1450:4001:80b::200e", "2001:200::1", "2003::1"]
  t.test("when they are global in IPv6, then they are", check(outsideSix, true))
  t.test("when they wrap an IPv4 address that is special, then neither are they public", check(wrapped(inside), false))
  t.test("when they wrap one that is not, then they are", check(wrapped(outside), true))
  t.test("when they are not addresses, then they are not public", check(none, false))
})

t.test("given any address", async (t) => {
  /** Spellings of an IPv6 address: short, whole, padded, in capitals, and with its last four bytes in decimal. */
  const spellings = (sixteen: ReadonlyArray<number>): ReadonlyArray<string> => {
    const whole = groups(sixteen)
    const padded = whole.replaceAll(/[0-9a-f]+/g, (group) => group.padStart(4, "0"))
    return [
      new URL(`http://[${whole}]/`).hostname.slice(1, -1),
      whole,
      padded,
      padded.toUpperCase(),
      `${groups(sixteen.slice(0, 12))}:${text(sixteen.slice(12))}`
    ]
  }
  const zeros = fc.array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 16, maxLength: 16 })

  t.test("when it is spelled in any way, then it is the same address, and Node's reading of it agrees", async () => {
    forAll(bytes(4), (four) => canonicalAddress(text(four)) === text(four))
    forAll(fc.oneof(bytes(16), zeros), (sixteen) => {
      const canonical = canonicalAddress(groups(sixteen)) ?? ""
      const list = new BlockList()
      list.addAddress(canonical, familyOf(canonical))
      return spellings(sixteen).every((written) => canonicalAddress(written) === canonical && list.check(written, "ipv6"))
    })
  })

  t.test("when Node takes a text as an address without a zone, then it is one, and nothing else is", async () => {
    const almost = fc.stringMatching(/^[0-9a-f:.%\][x]{0,24}$/)
    const addresses = fc.oneof(
      bytes(4).map(text),
      bytes(16).map(groups),
      zeros.map((sixteen) => spellings(sixteen)[0] ?? "")
    )
    const broken = fc
      .tuple(addresses, fc.nat(40), fc.constantFrom("", "%eth0", ".", ":", "::", "/", "]", "@", "0", "g", " "))
      .map(([address, at, what]) => address.slice(0, at) + what + address.slice(at))
    forAllOf({ numRuns: 1000 }, fc.oneof(almost, broken, fc.string()), (any) => {
      const isAddress = isIP(any) !== 0 && !any.includes("%")
      return (canonicalAddress(any) !== undefined) === isAddress && (isAddress || reachOf(any) === "never")
    })
  })

  t.test("when it is IPv4, then mapped into IPv6 and behind NAT64 it is judged as itself, and leads to itself", async () => {
    forAll(bytes(4), (four) =>
      ["::ffff:", "0:0:0:0:0:FFFF:", "64:ff9b::", "64:ff9b:0:0:0:0:"].every((prefix) =>
        [text(four), groups(four)].every(
          (tail) => reachOf(prefix + tail) === reachOf(text(four)) && plainAddress(prefix + tail) === text(four)
        )
      )
    )
  })

  t.test("when it hides in 6to4 or Teredo, then it is not public, whatever it is", async () => {
    forAll(bytes(14), (rest) => reachOf(`2002:${groups(rest)}`) === "special")
    forAll(bytes(12), (rest) => reachOf(`2001:0:${groups(rest)}`) === "special")
  })

  t.test("when it is private in IPv4, then no way of wrapping it makes it public", async () => {
    const privates = fc.oneof(
      bytes(3).map((rest) => [10, ...rest]),
      bytes(3).map((rest) => [127, ...rest]),
      bytes(2).map((rest) => [169, 254, ...rest]),
      bytes(2).map((rest) => [192, 168, ...rest])
    )
    forAll(
      privates,
      (four) =>
        ["", "::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"].every((prefix) => !isPublicAddress(prefix + text(four))) &&
        !isPublicAddress(`2002:${groups(four)}::1`)
    )
  })

  t.test("when it is outside of what is assigned to the internet, then it is not public", async () => {
    const foreign = bytes(16).filter(([first = 0]) => first >> 5 !== 1 && first !== 0)
    forAll(foreign, (sixteen) => !isPublicAddress(groups(sixteen)))
  })
})
