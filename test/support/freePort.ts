/**
 * A port that nobody listens on at the moment. It lies below those that the kernel gives to connections and to listeners without a number of their
 * own, because one of them could get it before it is used, or while an engine that was killed is not there again. For the same reason each process
 * begins elsewhere, and never takes a port twice.
 */
import { once } from "node:events"
import { createServer } from "node:net"

const first = 20_000
const count = 12_000
/** More than most test files take. */
const each = 20

let taken = 0

export const freePort = async (): Promise<number> => {
  while (true) {
    const port = first + ((process.pid * each + taken) % count)
    taken += 1
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
