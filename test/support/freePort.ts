/**
 * A port that nobody is listening on. It is below the range from which the kernel assigns ports to connections and to listeners that do not
 * name one, because one of them might get it before it is used, or while an engine that was killed has not been restarted. For the same
 * reason, no process takes a port twice, nor one that another process has taken: on Linux, its owner listens on an abstract socket of that
 * name, which the kernel gives to one process only, and frees when that process ends, however it ends.
 */
import { once } from "node:events"
import { createServer, type ListenOptions } from "node:net"

const first = 20_000
const count = 12_000
/** How far apart the processes start: more ports than most test files take. */
const each = 20

let taken = 0

/** Undefined if somebody else is listening there. */
const listenOn = async (options: ListenOptions) => {
  const server = createServer()
  const isListening = once(server, "listening").then(
    () => true,
    () => false
  )
  server.listen(options)
  return (await isListening) ? server : undefined
}

const take = async (port: number): Promise<boolean> => {
  if (process.platform !== "linux") return true
  const owned = await listenOn({ path: `\0trunkline-test-port-${port}` })
  owned?.unref()
  return owned !== undefined
}

export const freePort = async (): Promise<number> => {
  while (true) {
    const port = first + ((process.pid * each + taken) % count)
    taken += 1
    if (!(await take(port))) continue
    const server = await listenOn({ port, host: "127.0.0.1" })
    if (server === undefined) continue
    server.close()
    await once(server, "close")
    return port
  }
}
