/** The connection of one browser, in the worker: its offers, its candidates, and its audio as PCMU in frames of 20 ms. */
import { randomInt } from "node:crypto"
import { MediaStreamTrack, RTCPeerConnection, RtpHeader, RtpPacket, usePCMU } from "werift"
import { frameSize } from "#core/audio/Mulaw.ts"
import { Pace } from "#core/load/Pace.ts"
import type { Candidate, IceServer, PeerEnd, PeerSettings } from "./PeerMessages.ts"

interface PeerEvents {
  readonly answered: (sdp: string) => void
  readonly connected: () => void
  /** Called once, unless `close` was called. */
  readonly ended: (how: PeerEnd) => void
  /** Valid only until it returns. */
  readonly frame: (frame: Uint8Array) => void
}

/** The payload type of PCMU: RFC 3551, 6. */
const PCMU = 0
/** Twice what is spoken, after what a network may have held up; see the audio of ARI, which has the same limit. */
const pace = { burst: 500, perSecond: 100 }
const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

/** Uses only the wanted addresses. Without `iceServers`, the library would ask a public server. */
const connectionOf = ({ address, ports }: PeerSettings, iceServers: ReadonlyArray<IceServer>): RTCPeerConnection => {
  const isAll = everywhere.has(address)
  const isV6 = address.includes(":")
  return new RTCPeerConnection({
    codecs: { audio: [usePCMU()] },
    iceServers: iceServers.map((server) => ({ ...server })),
    iceUseIpv4: isAll && !isV6,
    iceUseIpv6: isAll && isV6,
    iceUseTcp: false,
    iceAdditionalHostAddresses: isAll ? [] : [address],
    iceInterfaceAddresses: isAll ? undefined : { [isV6 ? "udp6" : "udp4"]: address },
    icePortRange: ports === undefined ? undefined : [ports[0], ports[1]]
  })
}

export class BrowserPeer {
  readonly #settings: PeerSettings
  readonly #events: PeerEvents
  readonly #connection: RTCPeerConnection
  readonly #voice = new MediaStreamTrack({ kind: "audio" })
  readonly #pace = new Pace<BrowserPeer>(pace)
  readonly #rest = new Uint8Array(frameSize)
  /** Offers are answered one after another. */
  #work: Promise<void> = Promise.resolve()
  /** Candidates wait until their offer has been read. */
  #isDescribed = false
  #early: Array<Candidate> = []
  #filled = 0
  #last: number | undefined
  #sequence = randomInt(2 ** 16)
  #timestamp = randomInt(2 ** 32)
  #marker = true
  #isConnected = false
  #isOver = false
  readonly #openedAt = performance.now()
  #heardAt = this.#openedAt

  constructor(settings: PeerSettings, iceServers: ReadonlyArray<IceServer>, events: PeerEvents) {
    this.#settings = settings
    this.#events = events
    const connection = connectionOf(settings, iceServers)
    this.#connection = connection
    connection.addTransceiver(this.#voice, { direction: "sendrecv" })
    connection.onTrack.subscribe((track) => void track.onReceiveRtp.subscribe((packet) => this.#hear(packet)))
    connection.connectionStateChange.subscribe((state) => {
      if (state === "connected") this.#connected()
      else if (state === "closed") this.#end(this.#isConnected ? "left" : this.#failure())
      else if (state === "failed") this.#end(this.#isConnected ? "lost" : this.#failure())
    })
    for (const transport of connection.dtlsTransports) this.#followDtls(transport)
  }

  /** Why there is no connection. */
  #failure(): PeerEnd {
    return this.#isDescribed ? "unconnected" : "refused"
  }

  /** A browser that closes its connection says so over DTLS, which the state of the connection does not show. */
  #followDtls(transport: RTCPeerConnection["dtlsTransports"][number]): void {
    transport.onStateChange.subscribe((state) => {
      if (state === "closed") this.#end(this.#isConnected ? "left" : this.#failure())
    })
  }

  offer(sdp: string): void {
    this.#work = this.#work
      .then(() => this.#answer(sdp))
      .catch(() => {
        // A later offer that cannot be read changes nothing.
        if (!this.#isDescribed) this.#end("refused")
      })
  }

  async #answer(sdp: string): Promise<void> {
    if (this.#isOver) return
    await this.#connection.setRemoteDescription({ type: "offer", sdp })
    const answer = await this.#connection.createAnswer()
    if (!/^a=rtpmap:0 PCMU\/8000/m.test(answer.sdp)) throw new Error("no audio in common")
    await this.#connection.setLocalDescription(answer)
    const { sdp: own } = this.#connection.localDescription ?? answer
    const isFirst = !this.#isDescribed
    this.#isDescribed = true
    for (const candidate of this.#early.splice(0)) this.#add(candidate)
    if (isFirst) for (const transport of this.#connection.dtlsTransports) this.#followDtls(transport)
    this.#events.answered(own)
  }

  candidate(candidate: Candidate): void {
    if (this.#isDescribed) this.#add(candidate)
    else this.#early.push(candidate)
  }

  #add(candidate: Candidate): void {
    const given = { candidate: candidate.candidate, ...positionOf(candidate) }
    // One that cannot be read is as good as none.
    this.#connection.addIceCandidate(given).catch(() => {})
  }

  /** Sends one frame. It is lost before the connection is up. */
  send(frame: Uint8Array): void {
    const header = new RtpHeader({
      payloadType: PCMU,
      sequenceNumber: this.#sequence,
      timestamp: this.#timestamp,
      marker: this.#marker,
      ssrc: 1
    })
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#timestamp = (this.#timestamp + frameSize) >>> 0
    this.#marker = false
    if (this.#isConnected && !this.#isOver) this.#voice.writeRtp(new RtpPacket(header, Buffer.from(frame)))
  }

  skip(frames: number): void {
    this.#timestamp = (this.#timestamp + frames * frameSize) >>> 0
    this.#marker = true
  }

  /** Ends it if it has taken or been silent for too long. */
  look(now: number): void {
    const { connectMillis, quietMillis } = this.#settings
    if (!this.#isConnected && now - this.#openedAt > connectMillis) this.#end("unconnected")
    else if (this.#isConnected && now - this.#heardAt > quietMillis) this.#end("lost")
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#connection.close().catch(() => {})
  }

  #connected(): void {
    if (this.#isConnected || this.#isOver) return
    this.#isConnected = true
    this.#heardAt = performance.now()
    this.#events.connected()
  }

  #end(how: PeerEnd): void {
    if (this.#isOver) return
    this.close()
    this.#events.ended(how)
  }

  #hear({ header, payload }: RtpPacket): void {
    const now = performance.now()
    if (header.payloadType !== PCMU || !this.#pace.takes(this, 1, now)) return
    this.#heardAt = now
    const ahead = this.#last === undefined ? 1 : (header.sequenceNumber - this.#last) & 0xffff
    // Repeated or late: sequence numbers up to half the range behind the last one are old.
    if (ahead === 0 || ahead > 0x7fff) return
    this.#last = header.sequenceNumber
    this.#frames(payload)
  }

  /** Turns payloads of any size into frames. */
  #frames(payload: Uint8Array): void {
    for (let from = 0; from < payload.length; ) {
      const part = payload.subarray(from, from + frameSize - this.#filled)
      this.#rest.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled < frameSize) return
      this.#filled = 0
      this.#events.frame(this.#rest)
    }
  }
}

/** Where there is no index, the first and only stream is meant. */
const positionOf = ({ sdpMid, sdpMLineIndex }: Candidate) => ({
  ...(sdpMid === undefined ? {} : { sdpMid }),
  ...(sdpMLineIndex === undefined && sdpMid !== undefined ? {} : { sdpMLineIndex: sdpMLineIndex ?? 0 })
})
