/**
 * An unreliable network: a TCP proxy on its own port that cuts, delays, freezes and refuses connections. It always reads what is sent to it,
 * even if it passes nothing on: the sender notices only silence, and a test can tell what was sent.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { freePort } from "./freePort.ts"
import { resetSocket } from "./resetSocket.ts"

/** What happens to a chunk: it is delayed by this many milliseconds, together with all that follows it, or the connection is cut instead. */
export type Passage = number | "cut"

/** Inspects the bytes that pass on one connection; see `PostgresProxy`. */
export interface Inspector {
  readonly fromClient?: (chunk: Buffer) => Passage
  readonly fromServer?: (chunk: Buffer) => Passage
}

export interface Connection {
  /** The first bytes that the client sent, as text: `GET /ari/events...`. */
  readonly opening: string
}

interface Target {
  readonly host: string
  readonly port: number
}

const openingBytes = 256
const all = () => true

/** One direction of a connection. */
class Valve {
  #waiting: Array<{ readonly due: number; readonly pass: () => void }> = []
  #timer: NodeJS.Timeout | undefined
  #isFrozen = false

  push(delayMillis: number, pass: () => void): void {
    if (delayMillis === 0 && this.#waiting.length === 0 && !this.#isFrozen) return pass()
    this.#waiting.push({ due: Math.max(performance.now() + delayMillis, this.#waiting.at(-1)?.due ?? 0), pass })
    this.#flow()
  }

  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen
    this.#flow()
  }

  /** Stops everything for good. */
  shut(): void {
    clearTimeout(this.#timer)
    this.#waiting = []
    this.#isFrozen = true
  }

  #flow(): void {
    clearTimeout(this.#timer)
    while (!this.#isFrozen) {
      const next = this.#waiting[0]
      if (next === undefined) return
      const early = next.due - performance.now()
      if (early > 0) {
        // Timers are truncated to whole milliseconds, and may fire early.
        this.#timer = setTimeout(() => this.#flow(), Math.ceil(early))
        return
      }
      this.#waiting.shift()
      next.pass()
    }
  }
}

class Pair implements Connection {
  opening = ""
  readonly #client: Socket
  readonly #server: Socket
  readonly #up = new Valve()
  readonly #down = new Valve()
  readonly #delayMillis: () => number

  constructor(client: Socket, target: Target, inspector: Inspector, delayMillis: () => number, closed: (pair: Pair) => void) {
    this.#client = client.setNoDelay()
    this.#server = connect({ ...target, allowHalfOpen: true, noDelay: true })
    this.#delayMillis = delayMillis
    client.on("data", (chunk: Buffer) => {
      if (this.opening.length < openingBytes) this.opening += chunk.toString("latin1", 0, openingBytes)
    })
    this.#carry(client, this.#server, this.#up, inspector.fromClient)
    this.#carry(this.#server, client, this.#down, inspector.fromServer)
    for (const socket of [client, this.#server]) {
      socket.on("close", () => {
        if (client.destroyed && this.#server.destroyed) closed(this)
      })
    }
  }

  freeze(isFrozen: boolean): void {
    this.#up.freeze(isFrozen)
    this.#down.freeze(isFrozen)
  }

  /** Sends RST both ways and drops whatever was still to pass. */
  cut(): void {
    this.#up.shut()
    this.#down.shut()
    resetSocket(this.#client)
    resetSocket(this.#server)
  }

  /** Sends FIN both ways; what the client still sends is read and dropped. */
  hangUp(): void {
    this.#up.shut()
    this.#down.shut()
    this.#client.end()
    this.#server.destroy()
  }

  #carry(from: Socket, to: Socket, valve: Valve, inspect: ((chunk: Buffer) => Passage) | undefined): void {
    from.on("data", (chunk: Buffer) => {
      const passage = inspect?.(chunk) ?? 0
      if (passage === "cut") valve.push(0, () => this.cut())
      else valve.push(this.#delayMillis() + passage, () => to.destroyed || to.write(chunk))
    })
    from.on("end", () => valve.push(this.#delayMillis(), () => to.end()))
    // The connection was reset, or the server refused it: the other side gets a reset in turn.
    from.on("error", () => valve.push(this.#delayMillis(), () => this.cut()))
  }
}

export class TcpProxy {
  static async start(target: Target, inspector: () => Inspector = () => ({})): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, inspector)
    // Listens on a port that nobody else is given while connections are refused.
    await proxy.#listen(await freePort())
    return proxy
  }

  /** How many milliseconds all bytes are delayed, each way. */
  delayMillis = 0
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #port = 0
  #freezesNew = false

  private constructor(target: Target, inspector: () => Inspector) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      const pair = new Pair(
        client,
        target,
        inspector(),
        () => this.delayMillis,
        () => this.#pairs.delete(pair)
      )
      this.#pairs.add(pair)
      if (this.#freezesNew) pair.freeze(true)
    })
  }

  get port(): number {
    return this.#port
  }

  connections(which: (connection: Connection) => boolean = all): number {
    return [...this.#pairs].filter(which).length
  }

  /** Sends RST on both sides of open connections. */
  cut(which: (connection: Connection) => boolean = all): void {
    for (const pair of this.#pairs) if (which(pair)) pair.cut()
  }

  /** Sends FIN on both sides of open connections. Everything that a client wrote before it notices is still inspected. */
  hangUp(which: (connection: Connection) => boolean = all): void {
    for (const pair of this.#pairs) if (which(pair)) pair.hangUp()
  }

  /** Stops everything on open connections: no byte, no FIN, no RST passes. */
  freeze(which: (connection: Connection) => boolean = all): void {
    for (const pair of this.#pairs) if (which(pair)) pair.freeze(true)
  }

  /** Like `freeze`, and new connections are accepted but frozen too. */
  freezeAll(): void {
    this.#freezesNew = true
    this.freeze()
  }

  /** Lets new connections work as usual; frozen ones stay frozen. */
  spareNew(): void {
    this.#freezesNew = false
  }

  thaw(): void {
    this.#freezesNew = false
    for (const pair of this.#pairs) pair.freeze(false)
  }

  /** On: new connections get ECONNREFUSED; open ones stay. Off: listens on the same port again. */
  async refuse(on: boolean): Promise<void> {
    if (on === !this.#server.listening) return
    if (on) this.#server.close()
    else await this.#listen(this.#port)
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.cut()
    await closed
  }

  async #listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => {
        this.#server.off("error", reject)
        resolve()
      })
    })
    this.#port = (this.#server.address() as AddressInfo).port // listening on TCP, so neither a path nor null
  }
}
