/** A browser's end of a call, as another WebRTC connection of the same library: what it hears, and what it says. */
import { MediaStreamTrack, RTCPeerConnection, RtpHeader, RtpPacket, useOPUS, usePCMU } from "werift"
import type { Test } from "tap"
import { frameSize, silence } from "#core/audio/Mulaw.ts"
import { isLoud } from "#test/emulators/ari/Sound.ts"
import { everyTick } from "#test/emulators/shared/everyTick.ts"
import type { Talker } from "#test/emulators/shared/Talker.ts"

const frameMillis = 20
/** Of one who converses. More at once than the engine's buffer holds would be lost. */
const mostLateTicks = 10
/** Frames. Chromium's own buffer, measured on loopback, holds 37 ms. */
const mostBuffered = 2
const quiet = Buffer.alloc(frameSize, silence)

export interface Browser {
  /** A session description of this side; the second one begins a renegotiation. */
  readonly offer: () => Promise<string>
  readonly answered: (sdp: string) => Promise<void>
  /** What has been heard: payloads of PCMU, one after another. */
  readonly heard: () => Buffer
  /** Says this from now on, in frames of 20 ms, over and over. */
  readonly says: (codes: Uint8Array) => void
  /** Says instead what this one says, who hears one frame in each tick of 20 ms. What came before the connection is up on this side is not heard. */
  readonly converses: (talker: Pick<Talker, "next">) => void
  /** How many frames have arrived that have yet to be heard by who converses. */
  readonly waiting: () => number
  /** Sends nothing any more, and answers nothing. */
  readonly dies: () => void
  readonly closes: () => Promise<void>
  readonly state: () => string
}

export const openBrowser = (t: Pick<Test, "teardown">): Browser => {
  const connection = new RTCPeerConnection({
    codecs: { audio: [useOPUS(), usePCMU()] },
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceUseTcp: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceInterfaceAddresses: { udp4: "127.0.0.1" }
  })
  const microphone = new MediaStreamTrack({ kind: "audio" })
  connection.addTransceiver(microphone, { direction: "sendrecv" })
  const heard: Array<Buffer> = []
  connection.onTrack.subscribe((track) => void track.onReceiveRtp.subscribe(({ payload }) => heard.push(Buffer.from(payload))))
  let said: Uint8Array = quiet
  let at = 0
  let sequence = 1
  const send = (payload: Buffer) => {
    at += frameSize
    const header = new RtpHeader({ payloadType: 0, sequenceNumber: sequence++ & 0xffff, timestamp: at, ssrc: 7 })
    microphone.writeRtp(new RtpPacket(header, payload))
  }
  const isConnected = () => connection.connectionState === "connected"
  const speak = setInterval(() => {
    if (isConnected()) send(Buffer.from(said.subarray(at % said.length, (at % said.length) + frameSize)))
  }, frameMillis)
  let stopTicks = () => {}
  /** How many frames the one who converses has had; undefined before the connection is up. */
  let played: number | undefined
  const converses = (talker: Pick<Talker, "next">) => {
    clearInterval(speak)
    const tick = () => {
      if (!isConnected()) return
      let next = (played ??= heard.length)
      // As the jitter buffer of a browser does, it catches up in the agent's silence with what arrived late.
      while (heard.length - next > mostBuffered && !isLoud(heard[next] ?? quiet)) next += 1
      send(talker.next(heard[next]))
      played = Math.min(heard.length, next + 1)
    }
    stopTicks = everyTick(mostLateTicks, tick, () => {})
  }
  const fallsSilent = () => {
    clearInterval(speak)
    stopTicks()
  }
  const closes = async () => {
    fallsSilent()
    await connection.close()
  }
  // Without a peer it takes long.
  t.teardown(() => void closes())
  return {
    offer: async () => {
      const offer = await connection.createOffer()
      await connection.setLocalDescription(offer)
      return connection.localDescription?.sdp ?? offer.sdp
    },
    answered: (sdp) => connection.setRemoteDescription({ type: "answer", sdp }),
    heard: () => Buffer.concat(heard),
    says: (codes) => {
      said = codes
      at = 0
    },
    converses,
    waiting: () => heard.length - (played ?? heard.length),
    dies: () => {
      fallsSilent()
      for (const { connection: ice } of connection.iceTransports) void ice.close()
    },
    closes,
    state: () => connection.connectionState
  }
}
