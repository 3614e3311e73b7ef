import fc from "fast-check"
import t, { type Test } from "tap"
import { isPublicAddress, readAddress } from "#core/egress/IpAddress.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"
import { webhooksOf } from "#test/support/egress.ts"

const check = (addresses: ReadonlyArray<string>, expected: boolean) => async (t: Test) => {
  for (const address of addresses) t.equal(isPublicAddress(address), expected, address)
}

const text = (bytes: ReadonlyArray<number>) => bytes.join(".")
const groups = (bytes: ReadonlyArray<number>) =>
  Array.from({ length: bytes.length / 2 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(":")
const bytes = (length: number) => fc.array(fc.nat(255), { minLength: length, maxLength: length })

t.test("given addresses in figures", async (t) => {
  const inside = [
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255"
  ]
  const outside = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255"
  ]
  t.test("when they are special in IPv4, then they are not public", check(inside, false))
  t.test("when they are not, then they are", check(outside, true))
  t.test(
    "when they are special in IPv6, then they are not public",
    check(
      [
        "::",
        "::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "fc00::1",
        "fdff::1",
        "ff02::1",
        "100::1",
        "2001::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:808:808::1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "::8.8.8.8",
        "64:ff9b:1::808:808",
        "::ffff:0:8.8.8.8"
      ],
      false
    )
  )
  t.test(
    "when they are global in IPv6, then they are",
    check(["2606:4700::1111", "2a00:1450:4001:80b::200e", "2001:200::1", "2003::1"], true)
  )
  t.test("when they wrap an IPv4 address, then that one counts", async (t) => {
    for (const address of inside)
      for (const wrapped of [`::ffff:${address}`, `64:ff9b::${address}`]) t.notOk(isPublicAddress(wrapped), wrapped)
    for (const address of outside)
      for (const wrapped of [`::ffff:${address}`, `64:ff9b::${address}`]) t.ok(isPublicAddress(wrapped), wrapped)
  })
  t.test(
    "when they are none, then they are not public",
    check(
      [
        "",
        "localhost",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "01.1.1.1",
        "0x8.8.8.8",
        "8.8.8.8 ",
        "134744072",
        "fe80::1%eth0",
        "2606:4700::1%1",
        ":::",
        "1::2::3",
        "2606:4700",
        "2606:4700:0:0:0:0:0:0:1",
        "2606:4700::g",
        "::ffff:999.1.1.1",
        "8.8.8.8::",
        "12345::"
      ],
      false
    )
  )
})

t.test("given any address", async (t) => {
  t.test("when it is written in any way, then it is read as its bytes", async () => {
    fc.assert(fc.property(bytes(4), (four) => JSON.stringify(readAddress(text(four))) === JSON.stringify(four)))
    fc.assert(
      fc.property(bytes(16), (sixteen) => {
        const short = new URL(`http://[${groups(sixteen)}]/`).hostname.slice(1, -1)
        return [groups(sixteen), short].every((written) => JSON.stringify(readAddress(written)) === JSON.stringify(sixteen))
      })
    )
  })

  t.test("when it is private in IPv4, then no way of wrapping it makes it public", async () => {
    const privates = fc.oneof(
      bytes(3).map((rest) => [10, ...rest]),
      bytes(3).map((rest) => [127, ...rest]),
      bytes(2).map((rest) => [169, 254, ...rest]),
      bytes(2).map((rest) => [192, 168, ...rest])
    )
    fc.assert(
      fc.property(
        privates,
        (four) =>
          ["", "::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"].every((prefix) => !isPublicAddress(prefix + text(four))) &&
          !isPublicAddress(`2002:${groups(four)}::1`)
      )
    )
  })

  t.test("when it is outside of what is assigned to the internet, then it is not public", async () => {
    const foreign = bytes(16).filter(([first = 0]) => first >> 5 !== 1 && first !== 0)
    fc.assert(fc.property(foreign, (sixteen) => !isPublicAddress(groups(sixteen))))
  })

  t.test("when it is any text, then there is an answer", async () => {
    fc.assert(fc.property(fc.string(), (any) => isPublicAddress(any) === false || readAddress(any) !== undefined))
  })
})

t.test("given the address of a webhook endpoint", async (t) => {
  const refused = [
    "",
    "nowhere",
    "ftp://example.com/",
    "file:///etc/passwd",
    "https://user@example.com/",
    "https://:secret@example.com/",
    "https://example.com/#part",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://10.0.0.1:8080/",
    "http://169.254.169.254/latest",
    "http://0/"
  ]
  t.test("when it leads inside or is none, then it is refused", async (t) => {
    for (const url of refused) t.type(whyRefused(url, webhooksOf()), "string", url)
  })
  t.test("when it leads outside, then it is not", async (t) => {
    for (const url of [
      "https://example.com/hook?a=1",
      "http://93.184.215.14:8080/",
      "https://[2606:4700::1111]/",
      "https://localhost.example.com/"
    ]) {
      t.equal(whyRefused(url, webhooksOf()), undefined, url)
    }
  })
  t.test("when private targets are on, then the inside is allowed too, and nothing else", async (t) => {
    t.equal(whyRefused("http://127.0.0.1:9/", webhooksOf({ privateWebhooks: true })), undefined)
    t.type(whyRefused("ftp://127.0.0.1/", webhooksOf({ privateWebhooks: true })), "string")
  })
})
