/** The same GET repeatedly, on many connections that each wait for their answer. */
import { Effect, type Scope } from "effect"
import { connect, type Socket } from "node:net"

export interface Target {
  readonly port: number
  readonly path: string
  readonly key: string
}

const headEnd = "\r\n\r\n"

/** The length of a whole answer. All answers to one request have the same length. */
const lengthOf = (answer: string): number | undefined => {
  const head = answer.indexOf(headEnd)
  const [, body] = /content-length: (\d+)/i.exec(answer.slice(0, head)) ?? []
  return head < 0 || body === undefined ? undefined : head + headEnd.length + Number(body)
}

class Connection {
  answers = 0
  private readonly request: string
  private readonly socket: Socket
  private length: number | undefined
  private received = 0
  private first = ""

  constructor({ key, path, port }: Target, failed: (why: Error) => void) {
    this.request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\naccept: application/json\r\n\r\n`
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => this.socket.write(this.request))
    this.socket.on("error", failed)
    this.socket.on("data", (chunk) => {
      if (this.length === undefined) {
        this.first += chunk.toString("latin1")
        if (!this.first.startsWith("HTTP/1.1 200")) return failed(new Error(this.first.slice(0, 300)))
        this.length = lengthOf(this.first)
      }
      this.received += chunk.byteLength
      if (this.length === undefined || this.received < this.length) return
      this.received = 0
      this.answers++
      this.socket.write(this.request)
    })
  }

  close(): void {
    this.socket.destroy()
  }
}

/** Returns how many answers have come so far, over `width` connections that continue until the scope closes. */
export const flood = (target: Target, width: number): Effect.Effect<() => number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const failed = (why: Error) => {
        throw why
      }
      return Array.from({ length: width }, () => new Connection(target, failed))
    }),
    (connections) =>
      Effect.sync(() => {
        for (const one of connections) one.close()
      })
  ).pipe(Effect.map((connections) => () => connections.reduce((sum, { answers }) => sum + answers, 0)))
