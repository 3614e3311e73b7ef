/** A browser's end of a call, as another WebRTC connection of the same library: what it hears, and what it says. */
import { MediaStreamTrack, RTCPeerConnection, RtpHeader, RtpPacket, useOPUS, usePCMU } from "werift"
import type { Test } from "tap"

const frameMillis = 20

export interface Browser {
  /** A session description of this side; the second one begins a renegotiation. */
  readonly offer: () => Promise<string>
  readonly answered: (sdp: string) => Promise<void>
  /** What has been heard: payloads of PCMU, one after another. */
  readonly heard: () => Buffer
  /** Says this from now on, in frames of 20 ms, over and over. */
  readonly says: (codes: Uint8Array) => void
  /** Sends nothing any more, and answers nothing. */
  readonly dies: () => void
  readonly closes: () => Promise<void>
  readonly state: () => string
}

export const openBrowser = (t: Test): Browser => {
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
  let said: Uint8Array = Buffer.alloc(160, 0xff)
  let at = 0
  let sequence = 1
  const speak = setInterval(() => {
    if (connection.connectionState !== "connected") return
    const payload = Buffer.from(said.subarray(at % said.length, (at % said.length) + 160))
    at += 160
    const header = new RtpHeader({ payloadType: 0, sequenceNumber: sequence++ & 0xffff, timestamp: at, ssrc: 7 })
    microphone.writeRtp(new RtpPacket(header, payload))
  }, frameMillis)
  const closes = async () => {
    clearInterval(speak)
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
    dies: () => {
      clearInterval(speak)
      for (const { connection: ice } of connection.iceTransports) void ice.close()
    },
    closes,
    state: () => connection.connectionState
  }
}
