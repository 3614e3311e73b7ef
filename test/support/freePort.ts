/**
 * A port that nobody listens on at the moment. It lies below those that the kernel gives to connections and to listeners without a number of their
 * own, because one of them could get it before it is used.
 */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

const FIRST = 20_000
const LAST = 32_000

export const freePort = async (): Promise<number> => {
  while (true) {
    const port = randomInt(FIRST, LAST)
    const server = createServer()
    const isFree = once(server, "listening").then(
      () => true,
      () => false
    )
    server.listen(port, "127.0.0.1")
    if (!(await isFree)) continue
    server.close()
    await once(server, "close")
    return port
  }
}
