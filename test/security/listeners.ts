/** Servers on this machine beside the engine, which count their connections. */
import { createSocket } from "node:dgram"
import { type AddressInfo, createServer } from "node:net"
import type { Test } from "tap"

interface Listener {
  readonly port: number
  /** How many connections, or datagrams, have arrived. */
  readonly seen: { count: number }
}

/** Accepts connections on every address of this machine, and answers anything with `answer`. */
export const tcpListener = async (t: Test, answer = ""): Promise<Listener> => {
  const seen = { count: 0 }
  const server = createServer((socket) => {
    seen.count += 1
    socket.on("error", () => {})
    socket.once("data", () => socket.end(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  t.teardown(() => void server.close())
  return { port: (server.address() as AddressInfo).port, seen } // listening on TCP, so neither a path nor null
}

export const udpListener = async (t: Test, address: string): Promise<Listener> => {
  const seen = { count: 0 }
  const socket = createSocket("udp4")
  socket.on("message", () => {
    seen.count += 1
  })
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  t.teardown(() => void socket.close())
  return { port: socket.address().port, seen }
}
