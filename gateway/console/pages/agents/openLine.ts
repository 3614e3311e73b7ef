/** A call from this browser to an agent: WebRTC, with the engine's websocket for what both sides must know of each other. */
import { ask } from "#gateway/console/base/api.ts"
import type { CreatedRun, DownFrame, Health, TurnCredentials } from "#gateway/console/base/types.ts"

interface Listener {
  /** The agent's voice. */
  readonly onVoice: (voice: MediaStream) => void
  readonly onConnected: () => void
  /** What happens in the conversation: `rtf-*`, as in the record of the call. */
  readonly onFeedback: (type: string, payload: Readonly<Record<string, unknown>>) => void
  /** Once, for whatever reason. */
  readonly onEnd: (reason: string) => void
}

export interface Line {
  readonly run: CreatedRun
  readonly hangUp: () => void
}

const turnServers = async (): Promise<Array<RTCIceServer>> => {
  const { turn_enabled: isThere } = await ask<Health>("GET", "/health")
  if (!isThere) return []
  const { password, uris, username } = await ask<TurnCredentials>("GET", "/turn/credentials")
  return [{ urls: uris, username, credential: password }]
}

const connect = (address: string): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address)
    socket.onopen = () => resolve(socket)
    socket.onerror = () => reject(new Error("The engine cannot be reached"))
  })

/** Rejects if the microphone may not be used, or the engine refuses the call. */
export const openLine = async (agent: string, { onConnected, onEnd, onFeedback, onVoice }: Listener): Promise<Line> => {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } })
  const release = () => {
    for (const track of microphone.getTracks()) track.stop()
  }
  try {
    const run = await ask<CreatedRun>("POST", `/workflow/${agent}/runs`, { mode: "smallwebrtc", name: "Call from the console" })
    const peer = new RTCPeerConnection({ iceServers: await turnServers() })
    const { protocol, host } = location
    const socket = await connect(`${protocol.replace("http", "ws")}//${host}/api/v1/ws/signaling/${agent}/${run.id}`)
    let isOver = false
    const end = (reason: string) => {
      if (isOver) return
      isOver = true
      release()
      peer.close()
      socket.close()
      onEnd(reason)
    }
    const pcId = crypto.randomUUID()
    const say = (type: string, payload: object) => socket.send(JSON.stringify({ type, payload: { ...payload, pc_id: pcId } }))
    for (const track of microphone.getAudioTracks()) peer.addTrack(track, microphone)
    peer.ontrack = ({ streams: [voice] }) => voice !== undefined && onVoice(voice)
    peer.onicecandidate = ({ candidate }) => say("ice-candidate", { candidate: candidate?.toJSON() ?? null })
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "connected") onConnected()
      if (peer.connectionState === "failed") end("No audio gets through between this browser and the engine")
    }
    socket.onmessage = async ({ data }: MessageEvent<string>) => {
      // The engine keeps to its types.
      const frame = JSON.parse(data) as DownFrame
      if (frame.type === "answer" && "sdp" in frame.payload)
        await peer.setRemoteDescription({ type: "answer", sdp: String(frame.payload.sdp) })
      else if (frame.type === "error" && "message" in frame.payload) end(String(frame.payload.message))
      else if (frame.type === "call-ended") end("The agent has hung up")
      else onFeedback(frame.type, frame.payload)
    }
    socket.onclose = ({ reason }) => end(reason === "" ? "The connection is lost" : reason)
    await peer.setLocalDescription(await peer.createOffer())
    say("offer", { sdp: peer.localDescription?.sdp ?? "", type: "offer" })
    return { run, hangUp: () => end("You have hung up") }
  } catch (cause) {
    release()
    throw cause
  }
}
