/**
 * What pgbouncer does with `pool_mode = transaction`, as far as an engine can tell: a client has a server session only for one transaction,
 * and the next may be on another. Each client's own login opens one session, which then serves all clients. Without TLS.
 */
import { connect, createServer, type Socket } from "node:net"
import { localPort } from "./localPort.ts"
import { Messages } from "./PostgresProxy.ts"

interface Session {
  readonly socket: Socket
  client: Client | undefined
}
interface Client {
  readonly socket: Socket
  session: Session | undefined
  readonly waiting: Array<Buffer>
}

export const startTransactionPooler = async (target: { readonly host: string; readonly port: number }) => {
  // The session that was used last is reused first.
  const idle: Array<Session> = []
  const sockets = new Set<Socket>()
  let lastName = 0

  const serve = (client: Client, session: Session) => {
    client.session = session
    session.client = client
    for (const chunk of client.waiting.splice(0)) session.socket.write(chunk)
  }
  const server = createServer((socket) => {
    const client: Client = { session: undefined, socket, waiting: [] }
    const session: Session = { client, socket: connect(target) }
    client.session = session
    for (const one of [socket, session.socket]) {
      sockets.add(one)
      one.on("error", () => one.destroy())
    }
    const fromServer = new Messages(true)
    session.socket.on("data", (chunk: Buffer) => {
      for (const { body, type, whole } of fromServer.of(chunk)) {
        const named = Buffer.from(whole)
        // A pooler gives its clients its own process ids, for their cancel requests.
        if (type === "K") named.writeInt32BE(++lastName, 5)
        const served = session.client
        served?.socket.write(named)
        const isIdle = type === "Z" && body.toString() === "I"
        if (!isIdle || served === undefined) continue
        served.session = undefined
        session.client = undefined
        idle.push(session)
      }
    })
    socket.on("data", (chunk: Buffer) => {
      if (client.session !== undefined) return void client.session.socket.write(chunk)
      client.waiting.push(chunk)
      const next = idle.pop()
      if (next !== undefined) serve(client, next)
    })
  })
  return {
    port: await localPort(server),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
