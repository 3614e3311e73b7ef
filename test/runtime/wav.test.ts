/** Recordings in every format of WAV, and files with false headers. */
import fc from "fast-check"
import t from "tap"
import { decode } from "#core/audio/Mulaw.ts"
import { makePhoneSound, maxSeconds } from "#runtime/voice/PhoneSound.ts"
import { readWav } from "#runtime/voice/Wav.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { otherChunk, phoneWav, tone, wavOf } from "#test/support/wav.ts"

/** The samples as the callee hears them. Undefined if the file cannot be played. */
const heard = (file: Uint8Array): Int16Array | undefined => {
  const sound = makePhoneSound()
  const speech = readWav(file, sound) ? sound.end() : undefined
  return speech === undefined ? undefined : decode(speech)
}

const seconds = 0.5
/** How loud a tone of 500 Hz is in the samples, and how loud everything else is; away from the ends, where filters settle. */
const levels = (samples: Int16Array): { readonly tone: number; readonly rest: number } => {
  const middle = samples.subarray(800, 3200)
  let [sine, cosine, square] = [0, 0, 0]
  for (const [at, sample] of middle.entries()) {
    const phase = (2 * Math.PI * 500 * at) / 8000
    sine += sample * Math.sin(phase)
    cosine += sample * Math.cos(phase)
    square += sample * sample
  }
  const amplitude = (2 * Math.hypot(sine, cosine)) / middle.length
  return { tone: amplitude, rest: Math.sqrt(Math.max(0, square / middle.length - (amplitude * amplitude) / 2)) }
}
const pcm = (bytes: number, samples: Iterable<number>): Buffer => {
  const all = [...samples]
  const data = Buffer.alloc(all.length * bytes)
  for (const [at, sample] of all.entries()) {
    if (bytes === 1) data.writeUInt8((sample >> 8) + 128, at)
    else data.writeIntLE(sample * 2 ** (8 * bytes - 16), at * bytes, bytes)
  }
  return data
}
const floats = (samples: Int16Array): Buffer => {
  const data = Buffer.alloc(samples.length * 4)
  for (const [at, sample] of samples.entries()) data.writeFloatLE(sample / 32_768, at * 4)
  return data
}
/** The smallest code whose value, by the standard's own definition, is nearest. */
const coded = (values: ReadonlyArray<number>, samples: Int16Array): Buffer =>
  Buffer.from(
    Array.from(samples, (sample) =>
      values.reduce((best, value, code) => (Math.abs(value - sample) < Math.abs((values[best] ?? 0) - sample) ? code : best), 0)
    )
  )
/** G.711, table 1: sign, three bits of segment, four bits of position; the even bits are inverted. */
const alawValues = Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ 0x55
  const [segment, position] = [(bits >> 4) & 7, bits & 15]
  const middle = segment === 0 ? 2 * position + 1 : (2 * position + 33) * 2 ** (segment - 1)
  return ((bits & 0x80) === 0 ? -middle : middle) * 8
})

t.test("given a recording of a tone, when it is read, then the tone is heard and nothing else", async (t) => {
  const at = (rate: number) => tone(seconds, rate)
  const plain = { tag: 1, bits: 16, channels: 1, rate: 8000 }
  const check = (name: string, file: Buffer, rest = 150) => {
    const samples = heard(file) ?? new Int16Array()
    t.ok(Math.abs(samples.length - seconds * 8000) <= 160, `${name}: ${samples.length} samples`)
    const level = levels(samples)
    t.ok(Math.abs(level.tone - 12_000) < 300, `${name}: tone ${level.tone}`)
    t.ok(level.rest < rest, `${name}: rest ${level.rest}`)
  }
  for (const rate of [8000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000]) {
    check(`${rate} Hz`, wavOf({ ...plain, rate }, pcm(2, at(rate))), 250)
  }
  // Within half a turn of the tone's phase, which makes a small part of it look like something else.
  check("8003 Hz", wavOf({ ...plain, rate: 8003 }, pcm(2, at(8003))), 1500)
  check("8 bits", wavOf({ ...plain, bits: 8 }, pcm(1, at(8000))), 250)
  check("24 bits", wavOf({ ...plain, bits: 24 }, pcm(3, at(8000))))
  check("32 bits", wavOf({ ...plain, bits: 32 }, pcm(4, at(8000))))
  check("float", wavOf({ ...plain, tag: 3, bits: 32 }, floats(at(8000))))
  check("mu-law", wavOf({ ...plain, tag: 7, bits: 8 }, coded([...decode(Uint8Array.from({ length: 256 }, (_, code) => code))], at(8000))))
  check("A-law", wavOf({ ...plain, tag: 6, bits: 8 }, coded(alawValues, at(8000))), 250)
  check("extensible", wavOf({ ...plain, isExtensible: true }, pcm(2, at(8000))))
  check("after other chunks", wavOf({ ...plain, before: otherChunk }, pcm(2, at(8000))))
  check("with open sizes, as a program that died leaves it", wavOf({ ...plain, dataBytes: 0xffffffff }, pcm(2, at(8000))))
  const sides = [...at(8000)].flatMap((sample) => [sample * 1.5, sample / 2])
  check("a side each of half the tone", wavOf({ ...plain, channels: 2 }, pcm(2, sides)))
})

t.test("given files with false headers, when they are read, then nothing is heard and nothing breaks", async (t) => {
  const data = pcm(2, tone(0.1))
  const plain = { tag: 1, bits: 16, channels: 1, rate: 8000 }
  const check = (name: string, file: Uint8Array) => t.equal(heard(file), undefined, name)
  check("empty", Buffer.alloc(0))
  check("text", Buffer.from("RIFFxxxxWAVE"))
  const formats: Readonly<Record<string, Partial<typeof plain>>> = {
    "no channels": { channels: 0 },
    "65,535 channels": { channels: 65_535 },
    "no rate": { rate: 0 },
    "a rate of 4 GHz": { rate: 0xffffffff },
    "a rate of 1 Hz": { rate: 1 },
    "no bits": { bits: 0 },
    "12 bits": { bits: 12 },
    "64-bit float": { tag: 3, bits: 64 },
    "a compression": { tag: 0x11, bits: 4 }
  }
  for (const [name, format] of Object.entries(formats)) check(name, wavOf({ ...plain, ...format }, data))
  check("samples of no bytes", wavOf(plain, Buffer.alloc(0)))
  check("less than a sample", wavOf(plain, Buffer.alloc(1)))
  check("a chunk beyond the end", wavOf({ ...plain, before: Buffer.from("LIST\xff\xff\xff\xff", "latin1") }, data))
  const whole = wavOf(plain, data)
  const early = Buffer.from("RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd", "latin1")
  check("samples before their format", Buffer.concat([early, whole.subarray(12)]))
  const header = 44
  for (let end = 0; end <= header + 1; end++) check(`cut off after ${end}`, whole.subarray(0, end))
  t.equal(heard(whole.subarray(0, header + 321))?.length, 160, "what was cut off later is heard so far")
})

t.test("given a recording longer than five minutes, when it is read, then the first five are played", async (t) => {
  const long = Buffer.alloc((maxSeconds + 30) * 8000, 0x80)
  long.fill(0xff, maxSeconds * 8000)
  const samples = heard(wavOf({ tag: 1, bits: 8, channels: 1, rate: 8000 }, long))
  t.equal(samples?.length, maxSeconds * 8000)
  t.ok(samples?.every((sample) => Math.abs(sample) < 10))
  const slow = heard(wavOf({ tag: 1, bits: 8, channels: 1, rate: 2000 }, Buffer.alloc((maxSeconds + 30) * 2000, 0x80)))
  t.equal(slow?.length, maxSeconds * 8000)
})

t.test("given any bytes, when they are read, then at most five minutes come out, and no error", async (t) => {
  const valid = phoneWav(tone(0.05))
  const near = fc
    .array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 8 })
    .map((changes) => changes.reduce((file, [at, value]) => file.fill(value, at, at + 1), Buffer.from(valid)))
  const bytes = fc.oneof(
    near,
    fc.uint8Array({ maxLength: 200, size: "max" }),
    fc.uint8Array({ maxLength: 200, size: "max" }).map((rest) => Buffer.concat([valid.subarray(0, 12), rest]))
  )
  forAllOf({ numRuns: 3000, seed: 7 }, bytes, (file) => (heard(file)?.length ?? 0) <= maxSeconds * 8000)
  t.pass("none did")
})
