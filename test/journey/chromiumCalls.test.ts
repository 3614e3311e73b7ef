/** A call from Debian's Chromium: what it offers, takes, hears and says is no other program's idea of a browser. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { chromiumUnavailable, openPage, withMicrophone } from "#test/support/chromium.ts"
import { type Run, World } from "#test/support/engine.ts"
import { sidesOf } from "#test/support/stereo.ts"
import { until, untilTrue } from "#test/support/until.ts"

const skip = (await chromiumUnavailable()) ?? false

/** What a page does, as the existing product's. */
const script = (socket: string) => `(async () => {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
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
    window.signals.push(type)
    if (type === "answer") await connection.setRemoteDescription({ type: "answer", sdp: payload.sdp })
  }
  await new Promise((resolve) => { socket.onopen = resolve })
  connection.onicecandidate = ({ candidate }) =>
    say("ice-candidate", { pc_id: "PC-1", candidate: candidate && { candidate: candidate.candidate, sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex } })
  await connection.setLocalDescription(await connection.createOffer())
  say("offer", { sdp: connection.localDescription.sdp, type: "offer", pc_id: "PC-1", call_context_vars: {} })
})()`

/** What it has received, by its own count. */
const received = `(async () => {
  const stats = [...(await connection.getStats()).values()]
  const inbound = stats.find(({ type }) => type === "inbound-rtp")
  const codec = stats.find(({ id }) => id === inbound?.codecId)
  return { energy: inbound?.totalAudioEnergy ?? 0, packets: inbound?.packetsReceived ?? 0, codec: codec?.mimeType }
})()`

t.test("given a page in Chromium that calls, then it hears the agent, is recorded, and hangs up when it is left", { skip }, async (t) => {
  const world = await World.open(t, { greeting: "Good morning to you and to everybody else." })
  const path = `/workflow/${world.agentId}/runs`
  const { body } = await world.api.ask("POST", path, { mode: "smallwebrtc", name: "WR-1" })
  const run = body instanceof Object && "id" in body ? Number(body.id) : 0
  const page = await openPage(t, withMicrophone)
  await page.open(`${world.engine.url}/api/v1/health`)
  await page.evaluate(script(`${world.engine.url.replace("http", "ws")}/api/v1/ws/signaling/${world.agentId}/${run}?token=${world.apiKey}`))
  const heard = await until("a voice", async () => {
    // The cast holds because the expression is ours.
    const so = (await page.evaluate(received)) as { readonly energy: number; readonly packets: number; readonly codec: string }
    return so.energy > 0.01 && so.packets > 100 ? so : undefined
  })
  t.equal(heard.codec, "audio/PCMU")
  await untilTrue("what is said, in writing", async () => String(await page.evaluate("signals.join()")).includes("rtf-bot-text"))
  await page.open("about:blank")
  const record = await until("its record", async () => {
    // The cast holds because the service builds its answers from this type.
    const record = (await world.api.ask("GET", `${path}/${run}`)).body as Run
    return record.is_completed ? record : undefined
  })
  t.match(record, { gathered_context: { call_disposition: "user_hangup" } })
  await untilTrue("the recording", () => readdirSync(world.dataDir, { recursive: true }).some((file) => String(file).endsWith(".wav")))
  const [file = ""] = readdirSync(world.dataDir, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".wav"))
  const { agent, callee } = sidesOf(readFileSync(join(world.dataDir, file)))
  t.ok(
    [agent, callee].every((side) => side.some((sample) => Math.abs(sample) > 1000)),
    "both sides are recorded"
  )
  t.strictSame(page.complaints, [])
})
