/**
 * A proxy between the engine and Postgres that counts executed statements. The database's own statistics miss the repeated BEGIN and COMMIT of
 * a prepared statement.
 */
import { Effect, type Scope } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A message begins with a type byte, and four bytes of length without that byte; a connection's first message has no type. */
const headerBytes = 5
const execute = "E".charCodeAt(0)
const simpleQuery = "Q".charCodeAt(0)

export interface StatementCounter {
  /** The database's address through this proxy. */
  readonly url: string
  readonly count: () => number
}

/** Calls `saw` with the type of each message; chunks can end anywhere. */
const readMessages = (saw: (type: number) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let isFirst = true
  return (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= headerBytes) {
      const length = isFirst ? rest.readUInt32BE(0) : 1 + rest.readUInt32BE(1)
      if (rest.length < length) return
      if (!isFirst) saw(rest.readUInt8(0))
      isFirst = false
      rest = rest.subarray(length)
    }
  }
}

const join = (engine: Socket, postgres: Socket, read: (chunk: Buffer) => void) => {
  engine.setNoDelay(true)
  postgres.setNoDelay(true)
  engine.on("data", (chunk) => {
    read(chunk)
    postgres.write(chunk)
  })
  postgres.pipe(engine)
  for (const [socket, other] of [
    [engine, postgres],
    [postgres, engine]
  ] as const) {
    socket.on("error", () => other.destroy())
    socket.on("close", () => other.destroy())
  }
}

export const countStatements = (url: string): Effect.Effect<StatementCounter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const address = new URL(url)
    let counted = 0
    const open = new Set<Socket>()
    const server = createServer((engine) => {
      open.add(engine)
      const read = readMessages((type) => {
        if (type === execute || type === simpleQuery) counted++
      })
      join(engine, connect(Number(address.port), address.hostname), read)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          for (const socket of open) socket.destroy()
          server.close()
        })
    )
    const ours = new URL(url)
    // It listens on TCP.
    ours.port = String((server.address() as AddressInfo).port)
    return { url: ours.href, count: () => counted }
  })
