/**
 * A TLS front for a plain server, like an ingress. It can hold the handshakes of its connections, and records every request line that it gets.
 */
import { connect, createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { localPort } from "./localPort.ts"
import { cert, key } from "./tlsCertificate.ts"

export interface TlsFront {
  readonly url: string
  /** `POST /ari/channels` and so on, without the query. */
  readonly requests: ReadonlyArray<string>
  /** How many connections wait for their handshake. */
  readonly held: () => number
  readonly hold: (on: boolean) => void
  /** Closes the connections of requests, so that the next request needs a handshake; WebSockets stay. */
  readonly dropIdle: () => void
  readonly stop: () => void
}

export const startTlsFront = async (target: string): Promise<TlsFront> => {
  const requests: Array<string> = []
  const waiting = new Map<Socket, () => void>()
  const all = new Set<Socket>()
  const ofRequests = new Set<Socket>()
  let holds = false
  const keep = (socket: Socket) => {
    all.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => {
      all.delete(socket)
      waiting.delete(socket)
    })
    return socket
  }
  const inner = createTlsServer({ cert, key }, (socket) => {
    const behind = connect(Number(new URL(target).port), "127.0.0.1")
    ofRequests.add(socket)
    socket.on("close", () => ofRequests.delete(socket))
    socket.on("data", (data: Buffer) => {
      for (const [line] of data.toString("latin1").matchAll(/^[A-Z]+ \/[^ ?]*/gm)) {
        requests.push(line)
        if (line === "GET /ari/events") ofRequests.delete(socket)
      }
    })
    join(keep(socket), keep(behind))
  })
  inner.on("tlsClientError", () => {})
  const innerPort = await localPort(inner)
  const outer = createServer((socket) => {
    keep(socket)
    // Read from the start, because otherwise it would go unnoticed that a client has given up.
    const hello: Array<Buffer> = []
    const listen = (data: Buffer) => hello.push(data)
    socket.on("data", listen)
    const pass = () => {
      socket.off("data", listen)
      const handshake = keep(connect(innerPort, "127.0.0.1"))
      for (const part of hello) handshake.write(part)
      join(socket, handshake)
    }
    if (holds) waiting.set(socket, pass)
    else pass()
  })
  return {
    url: `https://127.0.0.1:${await localPort(outer)}`,
    requests,
    held: () => waiting.size,
    hold: (on) => {
      holds = on
      if (on) return
      for (const pass of waiting.values()) pass()
      waiting.clear()
    },
    dropIdle: () => {
      for (const socket of ofRequests) socket.destroy()
    },
    stop: () => {
      outer.close()
      inner.close()
      for (const socket of all) socket.destroy()
    }
  }
}

const join = (one: Socket, other: Socket): void => {
  one.on("close", () => other.destroy())
  other.on("close", () => one.destroy())
  one.pipe(other).pipe(one)
}
