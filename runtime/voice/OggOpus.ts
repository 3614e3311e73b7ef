/**
 * The container of a compressed recording: Ogg pages (RFC 3533) with one Opus stream (RFC 7845). A page holds about a second, and no packet
 * spans two pages. Positions count samples at 48 kHz, whatever the encoded rate; the last position cuts off the padding of the last packet.
 */
import { randomInt } from "node:crypto"

interface OggOpusOptions {
  readonly channels: 1 | 2
  /** The sample rate of the original, for players that show it. */
  readonly inputRate: number
  /** Samples at 48 kHz that a decoder outputs before the sound begins, and that players drop. */
  readonly preSkip: number
  /** Samples per packet, at 48 kHz. */
  readonly packetSamples: number
  /** Consumes the bytes before it returns. */
  readonly write: (page: Uint8Array) => void
}

interface OggOpus {
  readonly push: (packet: Uint8Array) => void
  /** `samples` is the length of the sound at 48 kHz. At least one packet must have been pushed. */
  readonly end: (samples: number) => void
}

const packetsPerPage = 50
const maxSegments = 255
const segmentBytes = 255
const first = 2
const last = 4
const pageHeaderBytes = 27
const checksumAt = 22
const polynomial = 0x04c11db7

const checksums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit++) rest = rest < 0 ? (rest << 1) ^ polynomial : rest << 1
  return rest >>> 0
})
const checksumOf = (page: Uint8Array): number => {
  let sum = 0
  for (const byte of page) sum = ((sum << 8) ^ (checksums[((sum >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0
  return sum
}

/** A packet whose length is a multiple of 255 ends with an empty segment. */
const segmentsOf = (packet: Uint8Array): number => Math.floor(packet.length / segmentBytes) + 1

const opusHead = ({ channels, inputRate, preSkip }: OggOpusOptions): Uint8Array => {
  const packet = Buffer.alloc(19)
  packet.write("OpusHead", 0)
  packet.writeUInt8(1, 8)
  packet.writeUInt8(channels, 9)
  packet.writeUInt16LE(preSkip, 10)
  packet.writeUInt32LE(inputRate, 12)
  // The rest stays zero: no gain, and mapping family 0, which is mono or stereo.
  return packet
}

const tags = (): Uint8Array => {
  const vendor = Buffer.from("Trunkline")
  const packet = Buffer.alloc(16 + vendor.length)
  packet.write("OpusTags", 0)
  packet.writeUInt32LE(vendor.length, 8)
  vendor.copy(packet, 12)
  return packet
}

export const startOggOpus = (options: OggOpusOptions): OggOpus => {
  const serial = randomInt(0x1_0000_0000)
  let pages = 0
  let packets = 0
  let waiting: Array<Uint8Array> = []
  let segments = 0

  const writePage = (contents: ReadonlyArray<Uint8Array>, position: number, flags: number) => {
    const lacing = contents.flatMap((packet) => [...Array(segmentsOf(packet) - 1).fill(segmentBytes), packet.length % segmentBytes])
    const header = Buffer.alloc(pageHeaderBytes)
    header.write("OggS", 0)
    header.writeUInt8(flags, 5)
    header.writeBigUInt64LE(BigInt(position), 6)
    header.writeUInt32LE(serial, 14)
    header.writeUInt32LE(pages++, 18)
    header.writeUInt8(lacing.length, 26)
    const page = Buffer.concat([header, Buffer.from(lacing), ...contents])
    page.writeUInt32LE(checksumOf(page), checksumAt)
    options.write(page)
  }
  const flush = (position: number, flags: number) => {
    writePage(waiting, position, flags)
    waiting = []
    segments = 0
  }

  writePage([opusHead(options)], 0, first)
  writePage([tags()], 0, 0)
  return {
    push: (packet) => {
      const more = segmentsOf(packet)
      // A page is written only when the next packet arrives, because the last page carries a flag.
      if (waiting.length === packetsPerPage || segments + more > maxSegments) flush(packets * options.packetSamples, 0)
      waiting.push(packet)
      segments += more
      packets++
    },
    end: (samples) => flush(options.preSkip + samples, last)
  }
}
