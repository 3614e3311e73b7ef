/** A port that nobody listens on at the moment. */
import { once } from "node:events"
import { createServer } from "node:net"

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a listener without a port")
  server.close()
  await once(server, "close")
  return address.port
}
