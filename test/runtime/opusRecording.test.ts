/** Recordings as Opus, checked with a third-party decoder. */
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { startOggOpus } from "#runtime/voice/OggOpus.ts"
import { compressRecording } from "#runtime/voice/opusRecording.ts"
import { resample } from "#core/audio/Resampler.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { heardOpus } from "#test/support/oggOpus.ts"
import { wavOf } from "#test/support/wav.ts"

const folder = temporaryFolder(t)

/** One side: a tone that starts at a time in seconds, and its duration. */
interface Tone {
  readonly hertz: number
  readonly from: number
  readonly until: number
}
const at = ({ from, hertz, until }: Tone, time: number): number =>
  time >= from && time < until ? 8000 * Math.sin(2 * Math.PI * hertz * time) : 0

let files = 0
/** Compresses a recording of the two sides, as long as the longer one, in whole frames. */
const recordedOf = async (left: Int16Array, right: Int16Array) => {
  const path = join(folder, `${files++}.wav`)
  const data = Buffer.alloc(Math.ceil(Math.max(left.length, right.length) / frameSize) * frameSize * 4)
  for (const [at, sample] of left.entries()) data.writeInt16LE(sample, at * 4)
  for (const [at, sample] of right.entries()) data.writeInt16LE(sample, at * 4 + 2)
  await writeFile(path, wavOf({ tag: 1, bits: 16, channels: 2, rate: sampleRate }, data))
  return path
}
const recorded = (frames: number, callee: Tone, agent: Tone) => {
  const side = (tone: Tone) => Int16Array.from({ length: frames * frameSize }, (_, sample) => at(tone, sample / sampleRate))
  return recordedOf(side(callee), side(agent))
}

const heard = async (path: string) => heardOpus(await readFile(path))
/** How loud a tone is between two times. */
const loudness = (samples: Float32Array, hertz: number, from: number, until: number): number => {
  let [sine, cosine] = [0, 0]
  const part = samples.subarray(Math.round(from * sampleRate), Math.round(until * sampleRate))
  for (const [at, sample] of part.entries()) {
    sine += sample * Math.sin((2 * Math.PI * hertz * at) / sampleRate)
    cosine += sample * Math.cos((2 * Math.PI * hertz * at) / sampleRate)
  }
  return (2 * 32_768 * Math.hypot(sine, cosine)) / part.length
}
/** When the tone starts, in seconds: the first 20 ms of which it fills at least half. */
const begins = (samples: Float32Array, hertz: number): number => {
  const millis = Array.from({ length: 6000 }, (_, millis) => millis)
  return (millis.find((at) => loudness(samples, hertz, at / 1000, at / 1000 + 0.02) > 4000) ?? Number.NaN) / 1000 + 0.01
}

const low = { hertz: 440, from: 1, until: 4 }
const high = { hertz: 1000, from: 2.5, until: 6 }

t.test("given a call in which both sides are heard, one after the other and both at once", async (t) => {
  const wav = await recorded(400, low, high)
  const opus = `${wav}.opus`
  t.equal(await compressRecording(wav, opus), (await stat(opus)).size, "then it returns the number of bytes")
  const { channels, errors, left, right, samples } = await heard(opus)

  t.strictSame([channels, errors], [2, []])
  t.ok(Math.abs(samples - 400 * frameSize) <= 1, `then it is as long as before: ${samples} samples`)
  const first: readonly [number, number] = [1.2, 2.4]
  const last: readonly [number, number] = [4.2, 5.8]
  for (const [name, side, tone, other, alone, others] of [
    ["callee", left, low, high, first, last],
    ["agent", right, high, low, last, first]
  ] as const) {
    const [start, level] = [begins(side, tone.hertz), loudness(side, tone.hertz, ...alone)]
    t.ok(Math.abs(start - tone.from) < 0.02, `then the ${name} starts at the right time: ${start}`)
    t.ok(Math.abs(level - 8000) < 1200, `then the ${name} is as loud: ${level}`)
    t.ok(loudness(side, tone.hertz, 2.7, 3.9) > 7000, `then the ${name} is heard while both speak`)
    t.ok(loudness(side, other.hertz, 2.7, 3.9) < 400, `then nothing of the other is heard on the side of the ${name}`)
    t.ok(loudness(side, other.hertz, ...others) < 1000, `then the ${name} is silent while the other speaks`)
  }
  const ratio = (await stat(opus)).size / (await stat(wav)).size
  t.ok(ratio < 0.1, `then it takes a tenth of the bytes at most: ${ratio}`)
  t.equal((await stat(opus)).mode & 0o777, 0o600)
})

t.test("given two people who speak in turns, then on the side of who listens the other is a hundred times quieter at least", async (t) => {
  const flite = loadFlite()
  const said = (voice: FliteVoice, text: string) => {
    const { rate, samples } = synthesize(flite, voice, text)
    return resample(samples, rate, sampleRate)
  }
  const agent = said("slt", "Good morning. This is the clinic, about your appointment tomorrow at ten. Can you come?")
  const callee = said("rms", "Yes, I can, thank you for the reminder.")
  const pause = sampleRate / 2
  const wav = await recordedOf(Int16Array.from([...new Int16Array(agent.length + pause), ...callee]), agent)
  await compressRecording(wav, `${wav}.opus`)
  const { left, right } = await heard(`${wav}.opus`)
  const power = (samples: Float32Array, from: number, until: number) => Math.hypot(...samples.subarray(from, until))
  const turn = [agent.length + pause, agent.length + pause + callee.length] as const
  t.ok(power(left, 0, agent.length) * 100 < power(right, 0, agent.length))
  t.ok(power(right, ...turn) * 100 < power(left, ...turn))
})

t.test("given recordings of any length, then each is as long as before, within a frame", async (t) => {
  for (const frames of [0, 1, 2, 49, 50, 51, 99, 100, 101, 200]) {
    const wav = await recorded(frames, low, high)
    await compressRecording(wav, `${wav}.opus`)
    const { errors, samples } = await heard(`${wav}.opus`)
    t.strictSame(errors, [])
    // This decoder does not trim the end of a stream with a single page.
    t.ok(Math.abs(samples - frames * frameSize) <= (frames > 50 ? 1 : frameSize), `${frames} frames: ${samples} samples`)
  }
})

t.test("given a file that is not a recording of a call, then it is not compressed", async (t) => {
  const path = join(folder, "other")
  for (const bytes of [Buffer.alloc(0), Buffer.from("RIFF"), Buffer.alloc(100, "RIFF")]) {
    await writeFile(path, bytes)
    t.equal(await compressRecording(path, `${path}.opus`), undefined)
    await t.rejects(stat(`${path}.opus`), { code: "ENOENT" })
  }
  await t.rejects(compressRecording(join(folder, "missing"), `${path}.opus`), { code: "ENOENT" })
})

t.test("given packets of any size, then each page has whole packets and a checksum, and the last one is marked", async (t) => {
  const pages: Array<Buffer> = []
  const write = (page: Uint8Array) => pages.push(Buffer.from(page))
  const ogg = startOggOpus({ channels: 2, inputRate: 8000, preSkip: 312, packetSamples: 960, write })
  const sizes = Array.from({ length: 300 }, (_, at) => [1, 254, 255, 256, 510, 1275][at % 6] ?? 0)
  for (const size of sizes) ogg.push(Buffer.alloc(size, size & 0xff))
  ogg.end(300 * 960 - 312)

  const bytesOfPackets = pages.slice(2).flatMap((page) => {
    const lacing = [...page.subarray(27, 27 + page.readUInt8(26))]
    t.equal(page.length, 27 + lacing.length + lacing.reduce((sum, size) => sum + size, 0))
    t.not(lacing.at(-1), 255, "no packet goes on in the next page")
    return lacing
      .reduce<Array<number>>((sizes, size) => [...sizes.slice(0, -1), (sizes.at(-1) ?? 0) + size, ...(size < 255 ? [0] : [])], [0])
      .slice(0, -1)
  })
  t.strictSame(bytesOfPackets, sizes)
  for (const [at, page] of pages.entries()) {
    t.equal(page.readUInt32LE(18), at)
    t.equal(page.readUInt8(5), at === 0 ? 2 : at === pages.length - 1 ? 4 : 0)
  }
  t.equal(pages.at(-1)?.readBigUInt64LE(6), 300n * 960n)
  t.ok(pages.every((page, at) => at === 0 || page.readBigUInt64LE(6) >= (pages[at - 1]?.readBigUInt64LE(6) ?? 0n)))
  // Bit by bit, as RFC 3533 specifies.
  const checksum = (page: Buffer) => {
    const bytes = Buffer.from(page)
    bytes.writeUInt32LE(0, 22)
    let sum = 0
    for (const byte of bytes) {
      sum ^= byte << 24
      for (let bit = 0; bit < 8; bit++) sum = (sum & 0x80000000) === 0 ? sum << 1 : (sum << 1) ^ 0x04c11db7
    }
    return sum >>> 0
  }
  for (const page of pages) t.equal(page.readUInt32LE(22), checksum(page))
})
