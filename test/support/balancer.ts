/** A plain balancer in front of engines: each connection goes to a random one of those that accept it. */
import { connect, createServer, type Socket } from "node:net"
import { pipeline } from "node:stream"
import type { Test } from "tap"
import { seeded } from "./seeded.ts"

interface Balancer {
  readonly url: string
  /** The ports behind it, whether or not anybody listens there. */
  readonly ports: Set<number>
  /** How many connections each of them has got. */
  readonly counts: ReadonlyMap<number, number>
}

export const openBalancer = async (t: Test, seed: number): Promise<Balancer> => {
  const random = seeded(seed)
  const ports = new Set<number>()
  const counts = new Map<number, number>()
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket)
    socket.on("error", () => {}).once("close", () => open.delete(socket))
  }
  const pass = (client: Socket, left: ReadonlyArray<number>): void => {
    const port = left[Math.floor(random() * left.length)]
    if (port === undefined) return void client.destroy()
    const engine = connect({ allowHalfOpen: true, host: "127.0.0.1", noDelay: true, port })
    keep(engine)
    const next = () =>
      pass(
        client,
        left.filter((one) => one !== port)
      )
    engine.once("error", next)
    engine.once("connect", () => {
      engine.off("error", next)
      counts.set(port, (counts.get(port) ?? 0) + 1)
      pipeline(client, engine, () => engine.destroy())
      pipeline(engine, client, () => client.destroy())
    })
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    keep(client)
    pass(client, [...ports])
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { counts, ports, url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}` }
}
