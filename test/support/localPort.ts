import type { AddressInfo, Server } from "node:net"

/** Makes a server listen on a port of this machine that the system chooses, and returns it. */
export const localPort = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve))
  // The cast holds because a server that listens on a port has such an address.
  return (server.address() as AddressInfo).port
}
