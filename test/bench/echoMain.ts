/**
 * The control of `media`, in a separate process: places calls at a rate and sends each of their frames back as it arrives. It has no database,
 * no greeting, no clock, and no recording.
 */
import { setTimeout as pause } from "node:timers/promises"
import { once } from "node:events"
import { WebSocket } from "ws"
import { credentials, rest } from "#test/emulators/ari/bareClient.ts"
import { answerMeasures } from "./Measures.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"

const application = "echo"
const mediaOf = (channelId: string) => `media-${channelId}`

interface EchoOrder {
  readonly emulator: EmulatorAddress
  readonly numbers: ReadonlyArray<string>
  /** How many calls were ordered before. */
  readonly from: number
  readonly callsPerSecond: number
}

const query = (values: Readonly<Record<string, string>>) => new URLSearchParams({ app: application, ...values }).toString()

const idIn = (event: { readonly type?: unknown; readonly channel?: { readonly id?: unknown } }): string | undefined =>
  event.type === "StasisStart" && typeof event.channel?.id === "string" ? event.channel.id : undefined

/** Opens a media channel beside the call, whose frames are sent back. */
const openMedia = async (emulator: EmulatorAddress, channelId: string): Promise<void> => {
  const server = { external_host: "INCOMING", transport: "websocket", encapsulation: "none", connection_type: "server", format: "ulaw" }
  const { body } = await rest(emulator, "POST", `/channels/externalMedia?${query({ ...server, channelId: mediaOf(channelId) })}`)
  const connection = String(body?.channelvars?.MEDIA_WEBSOCKET_CONNECTION_ID)
  const headers = { authorization: credentials(emulator) }
  const socket = new WebSocket(`${emulator.url.replace("http", "ws")}/media/${connection}`, ["media"], {
    headers,
    perMessageDeflate: false
  })
  socket.on("message", (data, isBinary) => {
    // One message is one Buffer, by the socket's default binaryType.
    if (isBinary) socket.send(data as Buffer)
  })
}

const bridge = async (emulator: EmulatorAddress, channelId: string): Promise<void> => {
  const bridgeId = `bridge-${channelId}`
  await rest(emulator, "POST", `/bridges?${query({ type: "mixing", bridgeId })}`)
  await rest(emulator, "POST", `/bridges/${bridgeId}/addChannel?${query({ channel: `${channelId},${mediaOf(channelId)}` })}`)
}

const listen = async (emulator: EmulatorAddress): Promise<void> => {
  const events = query({ api_key: `${emulator.user}:${emulator.password}` })
  const socket = new WebSocket(`${emulator.url.replace("http", "ws")}/ari/events?${events}`, { perMessageDeflate: false })
  socket.on("message", (data) => {
    const id = idIn(JSON.parse(String(data)))
    if (id === undefined) return
    if (id.startsWith("media-")) void bridge(emulator, id.slice("media-".length))
    else void openMedia(emulator, id)
  })
  await once(socket, "open")
}

let listening: Promise<void> | undefined

const carryOut = async ({ callsPerSecond, emulator, from, numbers }: EchoOrder): Promise<void> => {
  await (listening ??= listen(emulator))
  for (const [index, number] of numbers.entries()) {
    const channel = { channelId: `echo-${from + index}`, endpoint: `PJSIP/${number}@trunk`, timeout: "60" }
    void rest(emulator, "POST", `/channels?${query(channel)}`)
    await pause(1000 / callsPerSecond)
  }
}

answerMeasures()
process.on("message", (message) => {
  // It comes from the benchmark, which sends nothing else with numbers.
  if (message instanceof Object && "numbers" in message) void carryOut(message as EchoOrder)
})
process.on("disconnect", () => process.exit())
