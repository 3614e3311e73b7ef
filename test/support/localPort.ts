import type { AddressInfo, Server } from "node:net"

/** Makes a server listen on this port of the loopback interface, or on one that the system chooses, and returns it. */
export const localPort = async (server: Server, port = 0): Promise<number> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => {
      server.off("error", reject)
      resolve()
    })
  })
  return (server.address() as AddressInfo).port // listening on TCP, so neither a path nor null
}
