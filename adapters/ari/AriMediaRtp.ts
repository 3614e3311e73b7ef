/** Audio over RTP, for an Asterisk without WebSocket channels. It must be able to reach this machine's UDP ports. */
import { randomInt } from "node:crypto"
import { createSocket, type Socket } from "node:dgram"
import { isIP } from "node:net"
import { Effect } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import { Pace } from "#core/load/Pace.ts"
import { refusedWords } from "#core/egress/Egress.ts"
import type { ProviderError } from "#core/provider/Adapter.ts"
import { numberAt, textAt } from "#adapters/shared/Json.ts"
import { MediaEar } from "#adapters/shared/MediaEar.ts"
import { type Leg, providerError } from "./Asterisk.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"

const HEADER_BYTES = 12
const FRAME_BYTES = 160
const VERSION_2 = 0x80
const PCMU = 0
/** Marks a packet that does not continue the previous one (RFC 3551, 4.1): a receiver resets its jitter buffer. */
const MARKER = 0x80

/**
 * `create` makes the channel that sends to and receives from the given host and port. Asterisk says where our own audio must go, and
 * `maySendTo` decides whether it may go there.
 */
export const openRtp = Effect.fnUntraced(function* (
  leg: Leg,
  localAddress: string,
  maySendTo: (address: string) => boolean,
  create: (externalHost: string) => Effect.Effect<Reply, ProviderError>
) {
  const isV6 = localAddress.includes(":")
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => createSocket(isV6 ? "udp6" : "udp4")),
    (socket) => Effect.sync(() => socket.close())
  )
  const port = yield* bind(socket, localAddress)
  const { body } = yield* create(isV6 ? `[${localAddress}]:${port}` : `${localAddress}:${port}`)
  const remote = {
    address: textAt(body, "channelvars", "UNICASTRTP_LOCAL_ADDRESS") ?? "",
    port: Number(textAt(body, "channelvars", "UNICASTRTP_LOCAL_PORT") ?? numberAt(body, "channelvars", "UNICASTRTP_LOCAL_PORT"))
  }
  if (!(remote.port > 0 && remote.port < 65_536) || isIP(remote.address) === 0)
    return yield* providerError("openMedia", "Asterisk named no RTP address")
  if (!maySendTo(remote.address)) return yield* providerError("openMedia", refusedWords)
  return streamOver(socket, remote, leg)
})

const bind = (socket: Socket, address: string) =>
  Effect.callback<number, ProviderError>((resume) => {
    socket.on("error", (error: NodeJS.ErrnoException) => resume(Effect.fail(providerError("openMedia", `UDP: ${error.code ?? "broken"}`))))
    socket.bind(0, address, () => resume(Effect.succeed(socket.address().port)))
  })

interface Remote {
  readonly address: string
  readonly port: number
}

/** Twice what is spoken, after what a network may have held up: packets beyond that are dropped, because a UDP socket cannot slow its sender down. */
const heard = new Pace<Socket>({ burst: 500, perSecond: 100 })

const streamOver = (socket: Socket, remote: Remote, leg: Leg): MediaStream => {
  const ear = new MediaEar()
  leg.onGone = () => ear.close("ended", "the media channel ended")
  let last: number | undefined
  socket.on("message", (packet, { address, port }) => {
    if (port !== remote.port || address !== remote.address || !heard.takes(socket, 1, performance.now())) return
    const audio = audioOf(packet)
    if (audio === undefined) return
    const sequence = packet.readUInt16BE(2)
    const ahead = last === undefined ? 1 : (sequence - last) & 0xffff
    // Repeated or late: sequence numbers up to half the range behind the last one are old.
    if (ahead === 0 || ahead > 0x7fff) return
    last = sequence
    ear.hear(audio)
  })
  // Random at the start (RFC 3550, 5.1). The sequence counts packets; the timestamp counts elapsed samples, sent or not.
  let sequence = randomInt(2 ** 16)
  let timestamp = randomInt(2 ** 32)
  let marker = MARKER
  const source = randomInt(2 ** 32)
  return {
    send: (frame) => {
      const packet = Buffer.allocUnsafe(HEADER_BYTES + frame.length)
      packet[0] = VERSION_2
      packet[1] = marker | PCMU
      packet.writeUInt16BE(sequence, 2)
      packet.writeUInt32BE(timestamp, 4)
      packet.writeUInt32BE(source, 8)
      packet.set(frame, HEADER_BYTES)
      sequence = (sequence + 1) & 0xffff
      timestamp = (timestamp + FRAME_BYTES) >>> 0
      marker = 0
      socket.send(packet, remote.port, remote.address)
      return true
    },
    skip: (frames) => {
      timestamp = (timestamp + frames * FRAME_BYTES) >>> 0
      marker = MARKER
    },
    // Nothing is queued beyond this machine.
    clear: () => {},
    // Nothing reports what has been played.
    mark: () => false,
    listen: (listener) => ear.listen(listener)
  }
}

/** The payload of a PCMU packet: skips contributing sources and a header extension, if there are any. */
const audioOf = (packet: Buffer): Buffer | undefined => {
  if (packet.length < HEADER_BYTES || (packet.readUInt8(0) & 0xc0) !== VERSION_2 || (packet.readUInt8(1) & 0x7f) !== PCMU) return undefined
  const first = packet.readUInt8(0)
  let start = HEADER_BYTES + (first & 0x0f) * 4
  if ((first & 0x10) !== 0) {
    if (packet.length < start + 4) return undefined
    start += 4 + packet.readUInt16BE(start + 2) * 4
  }
  const padding = (first & 0x20) === 0 ? 0 : packet.readUInt8(packet.length - 1)
  return start < packet.length - padding ? packet.subarray(start, packet.length - padding) : undefined
}
