/** Scripts of a page that makes a call, to be evaluated in Chromium. */
import type { World } from "./engine.ts"

/** Creates a run of the agent for a call from a browser. `path` is that of the run in the API, `socket` the address for the page's call. */
export const startRun = async ({ api, apiKey, engine }: World, agentId: number) => {
  const { body, status } = await api.ask("POST", `/workflow/${agentId}/runs`, { mode: "smallwebrtc", name: "WR-1" })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { id } = body as { readonly id: number } // the reply to the creation
  return {
    path: `/workflow/${agentId}/runs/${id}`,
    socket: `${engine.url.replace("http", "ws")}/api/v1/ws/signaling/${agentId}/${id}?token=${apiKey}`
  }
}

/** Calls as a page of the existing product does. `microphone` is an expression for a stream. Leaves `connection`, and what it is told as `signals`. */
export const callsFrom = (microphone: string, socket: string): string => `(async () => {
  const stream = await ${microphone}
  const connection = new RTCPeerConnection({ iceServers: [] })
  window.connection = connection
  window.signals = []
  for (const track of stream.getTracks()) connection.addTrack(track, stream)
  connection.ontrack = ({ streams }) => {
    const player = new Audio()
    player.srcObject = streams[0]
    void player.play()
    window.player = player
  }
  const socket = new WebSocket(${JSON.stringify(socket)})
  window.signaling = socket
  const say = (type, payload) => socket.send(JSON.stringify({ type, payload }))
  socket.onmessage = async ({ data }) => {
    const { type, payload } = JSON.parse(data)
    window.signals.push({ type, payload })
    if (type === "answer") await connection.setRemoteDescription({ type: "answer", sdp: payload.sdp })
  }
  await new Promise((resolve) => { socket.onopen = resolve })
  connection.onicecandidate = ({ candidate }) =>
    say("ice-candidate", { pc_id: "PC-1", candidate: candidate && { candidate: candidate.candidate, sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex } })
  await connection.setLocalDescription(await connection.createOffer())
  say("offer", { sdp: connection.localDescription.sdp, type: "offer", pc_id: "PC-1", call_context_vars: {} })
})()`
