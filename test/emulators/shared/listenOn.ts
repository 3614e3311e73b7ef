/** Lets a server listen on the loopback interface. */
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Returns the port. 0: the system chooses one. */
export const listenOn = async (server: Server, port: number): Promise<number> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => {
      server.off("error", reject)
      resolve()
    })
  })
  return (server.address() as AddressInfo).port // listening on TCP, so neither a path nor null
}
