import t from "tap"
import * as Alaw from "#core/audio/Alaw.ts"
import * as Mulaw from "#core/audio/Mulaw.ts"

const codes = Array.from({ length: 256 }, (_, code) => code)

t.test("given the curve of G.711, tables 1a and 1b", async (t) => {
  // Codes as they are on the line, with their 16-bit values: the tables' 13-bit values times eight.
  const values = [
    [0xd5, 8],
    [0x55, -8],
    [0xd4, 24],
    [0xc5, 264],
    [0xf5, 528],
    [0x80, 5504],
    [0x00, -5504],
    [0xaa, 32256],
    [0x2a, -32256]
  ] as const
  for (const [code, value] of values) {
    t.equal(Alaw.decodeSample(code), value, `then 0x${code.toString(16)} is ${value}`)
    t.equal(Alaw.encodeSample(value), code)
  }
  const comeBack = codes.every((code) => Alaw.encodeSample(Alaw.decodeSample(code)) === code)
  t.ok(comeBack, "then each code comes back")
  t.strictSame([32767, -32768, 0, -1].map(Alaw.encodeSample), [0xaa, 0x2a, 0xd5, 0x55], "then values beyond the curve take its last code")
})

t.test("given any value, then its code is at most half a step away", async (t) => {
  const samples = Array.from({ length: 65_536 / 37 }, (_, index) => index * 37 - 32_768)
  const isClose = (sample: number) => Math.abs(Alaw.decodeSample(Alaw.encodeSample(sample)) - sample) <= Math.max(8, Math.abs(sample) / 32)
  const far = samples.filter((sample) => !isClose(sample))
  t.strictSame(far, [])
})

t.test("given audio in mu-law, when it is converted through A-law, then it differs by a step of the curve at most", async (t) => {
  const frame = Uint8Array.from(codes)
  const back = Alaw.toMulaw(Alaw.fromMulaw(frame))
  const apart = codes.map((code) => {
    const value = Mulaw.decodeSample(code)
    return Math.abs(Mulaw.decodeSample(back[code] ?? 0) - value) <= Math.max(16, Math.abs(value) / 16)
  })
  t.ok(apart.every(Boolean))
  t.equal(Mulaw.decodeSample(Alaw.toMulaw(Uint8Array.of(0xd5))[0] ?? 0), 8, "then silence stays near silence")
})
