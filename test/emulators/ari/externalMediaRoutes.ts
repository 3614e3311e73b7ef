/** /channels/externalMedia: a channel whose audio uses a WebSocket that the client opens, or RTP. */
import { randomUUID } from "node:crypto"
import { createSocket } from "node:dgram"
import type { Channel } from "./Channel.ts"
import { checkId } from "./channelRoutes.ts"
import { connectionIdVariable } from "./Media.ts"
import { type AriRequest, type Asterisk, ok, refuse, type Route, route } from "./Route.ts"
import { frameBytes } from "./Sound.ts"

/** If no client connects to the socket for this long, the channel ends. */
const awaitedMillis = 30_000
const rtpHeaderBytes = 12

let lastName = 0

const settings = (asterisk: Asterisk, { query }: AriRequest, technology: string, channelvars: Readonly<Record<string, string>>) => ({
  id: checkId(asterisk, query.get("channelId") ?? randomUUID()),
  name: `${technology}-0x${(++lastName).toString(16).padStart(12, "0")}`,
  app: query.get("app") ?? refuse(400, "Application must be specified"),
  appArgs: query.get("data") ?? "",
  channelvars
})

const byWebSocket = (asterisk: Asterisk, request: AriRequest): Channel => {
  const { query } = request
  if ((query.get("encapsulation") ?? "none") !== "none") refuse(400, "The encapsulation must be 'none' for websocket transport")
  if (query.get("external_host") !== "INCOMING" || query.get("connection_type") !== "server") {
    refuse(400, "Only external_host INCOMING with connection_type server is known")
  }
  const connectionId = randomUUID()
  const channel = asterisk.calls.create(
    settings(asterisk, request, "WebSocket/INCOMING", {
      [connectionIdVariable]: connectionId,
      MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE: String(frameBytes)
    })
  )
  asterisk.media.awaited.set(connectionId, channel)
  channel.after(awaitedMillis, () => asterisk.calls.end(channel, { cause: 19 }))
  setImmediate(() => asterisk.calls.tellDial(channel, ""))
  return channel
}

const byRtp = async (asterisk: Asterisk, request: AriRequest): Promise<Channel> => {
  const [host, port] = (request.query.get("external_host") ?? "").split(":", 2)
  if (!host || !port) return refuse(400, "external_host must be host:port")
  const socket = createSocket("udp4")
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  const channel = asterisk.calls.create(
    settings(asterisk, request, `UnicastRTP/${host}:${port}`, {
      UNICASTRTP_LOCAL_ADDRESS: asterisk.namesRtpAt?.address ?? "127.0.0.1",
      UNICASTRTP_LOCAL_PORT: String(asterisk.namesRtpAt?.port ?? socket.address().port)
    })
  )
  const header = Buffer.alloc(rtpHeaderBytes)
  header[0] = 0x80
  let sequence = 0
  const receive = asterisk.media.openPlain(channel, {
    send: (frame) => {
      header.writeUInt16BE(++sequence & 0xffff, 2)
      header.writeUInt32BE((sequence * frameBytes) >>> 0, 4)
      socket.send([Buffer.from(header), frame], Number(port), host)
    },
    close: () => socket.close()
  })
  socket.on("message", (packet) => receive(packet.subarray(rtpHeaderBytes)))
  setImmediate(() => asterisk.calls.answer(channel))
  return channel
}

const externalMedia: Route["handle"] = async (asterisk, request) => {
  const { query } = request
  if (!query.has("external_host")) return refuse(400, "external_host must be specified")
  if (query.get("format") !== "ulaw") return refuse(400, `Provided format (${query.get("format") ?? ""}) was not found`)
  const transport = query.get("transport") ?? "udp"
  if (transport === "websocket" && asterisk.namesRtpAt !== undefined) return refuse(501, "The transport is not supported")
  if (transport === "websocket") return ok(byWebSocket(asterisk, request).toJSON())
  return transport === "udp" ? ok((await byRtp(asterisk, request)).toJSON()) : refuse(501, "The transport is not supported")
}

const query = "app channelId external_host encapsulation transport connection_type format direction data transport_data"

export const externalMediaRoutes: ReadonlyArray<Route> = [
  route("POST /channels/externalMedia", "externalMedia", externalMedia, { query, body: "variables", answers: "Channel" })
]
