/**
 * An Asterisk of an organization that means harm, or is broken, in a separate process: it answers requests, places no call, and sends events as fast as they are
 * taken. Told what to send, and how many events a second if not as many as possible; tells how much was taken.
 */
import { createHash, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type { Flood } from "./eventFlood.ts"

export interface Poured {
  readonly events: number
  readonly bytes: number
}

const chunkBytes = 256 * 1024
const tickMillis = 10
const opcodes = { ping: 0x89, text: 0x81 }

const framed = (text: string, opcode = opcodes.text): Buffer => {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126 ? Buffer.from([opcode, payload.length]) : Buffer.from([opcode, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, payload])
}

/** Of a call as this engine would have placed it; its id is new each time. */
const stranger = () => {
  const at = new Date().toISOString().replace("Z", "+0000")
  const caller = { name: "", number: "+493012345678" }
  const dialplan = { context: "default", exten: "s", priority: 1, app_name: "Stasis", app_data: "trunkline" }
  const channel = { id: randomUUID(), name: "PJSIP/trunk-00001234", state: "Up", caller, connected: caller, accountcode: "", dialplan }
  return JSON.stringify({
    type: "StasisStart",
    timestamp: at,
    args: [],
    channel: { ...channel, creationtime: at, language: "en" },
    application: "a"
  })
}

const words: Readonly<Record<Flood, () => Buffer>> = {
  strangers: () => framed(stranger()),
  "one word": () => framed("{}"),
  "not JSON": () => framed("{x"),
  pings: () => framed("", opcodes.ping),
  "long lists": () => framed(`{"type":"StasisStart","args":[${"[],".repeat(20_000)}0]}`)
}

/** Whole events of at least `chunkBytes`. */
const chunkOf = (flood: Flood): { readonly bytes: Buffer; readonly events: number } => {
  const all: Array<Buffer> = []
  for (let length = 0; length < chunkBytes; ) {
    const next = words[flood]()
    all.push(next)
    length += next.length
  }
  return { bytes: Buffer.concat(all), events: all.length }
}

const sockets = new Set<Duplex>()
let order: { readonly flood: Flood; readonly perSecond?: number } | undefined
let chunk = chunkOf("strangers")
let poured = { bytes: 0, events: 0 }
let begun = { at: 0, events: 0 }

const pour = (socket: Duplex): void => {
  while (order !== undefined && order.perSecond === undefined && !socket.destroyed) {
    poured.events += chunk.events
    poured.bytes += chunk.bytes.length
    if (!socket.write(chunk.bytes)) return void socket.once("drain", () => pour(socket))
  }
}

setInterval(() => {
  if (order?.perSecond === undefined) return
  const due = ((performance.now() - begun.at) / 1000) * order.perSecond
  for (; begun.events < due; begun.events++) {
    const event = words[order.flood]()
    poured.events++
    poured.bytes += event.length
    for (const socket of sockets) socket.write(event)
  }
}, tickMillis)

const answers: Readonly<Record<string, object>> = {
  "/ari/asterisk/info": { status: { startup_time: "2026-01-01T10:00:00.000+0000" }, system: { version: "22.10.1" } },
  "/ari/bridges": [],
  "/ari/channels": []
}

const server = createServer((request, response) => {
  request.resume()
  const found = request.method === "PUT" ? {} : request.method === "GET" ? answers[(request.url ?? "").split("?", 1)[0] ?? ""] : undefined
  response
    .writeHead(found === undefined ? 404 : 200, { "content-type": "application/json", server: "Asterisk/22.10.1" })
    .end(JSON.stringify(found ?? { message: "Channel not found" }))
})
server.on("upgrade", (request, socket) => {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
  sockets.add(socket)
  socket.on("error", () => {})
  socket.on("close", () => sockets.delete(socket))
  // The engine's pings are masked and empty.
  socket.on("data", (bytes: Buffer) => {
    if (bytes[0] === opcodes.ping) socket.write(Buffer.from([0x8a, 0]))
  })
  pour(socket)
})
process.on("message", (message) => {
  if (!(message instanceof Object)) return
  if ("flood" in message) {
    // It comes from the benchmark, which sends nothing else.
    order = message as NonNullable<typeof order>
    chunk = chunkOf(order.flood)
    begun = { at: performance.now(), events: 0 }
    for (const socket of sockets) pour(socket)
  } else {
    order = undefined
    process.send?.({ poured })
    poured = { bytes: 0, events: 0 }
  }
})
process.on("disconnect", () => process.exit())
server.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })) // on TCP, so neither a path nor null
