/** A carrier's REST server on the loopback interface: logs the requests, and misbehaves on demand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "#test/support/freePort.ts"
import { localPort } from "#test/support/localPort.ts"
import { resetSocket } from "#test/support/resetSocket.ts"
import { preciseNow } from "./CalleeLog.ts"

export interface CarrierAsk {
  /** On the clock of `preciseNow`. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** A text is sent as HTML, anything else as JSON. */
export interface CarrierAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface CarrierFault {
  /** Whether the carrier carries out the request before it misbehaves. */
  readonly acts: boolean
  readonly reply: "hang" | "reset" | CarrierAnswer
}

interface AskOutcome {
  /** The status of the carrier's own answer; undefined: the connection was cut before it did anything. */
  readonly status: number | undefined
  /** Whether that answer was sent. */
  readonly isReplied: boolean
}

type Applies = (ask: CarrierAsk) => boolean
interface Pending {
  readonly fault: CarrierFault
  readonly applies: Applies
  left: number
}

export class CarrierServer {
  /** The requests whose replies are never sent, whatever the carrier does. */
  mutes: Applies = () => false
  /** How long the reply to a request is delayed. */
  lateness: (ask: CarrierAsk) => number = () => 0
  /** Every request in order, including those with a fault. */
  readonly requests: Array<CarrierAsk> = []
  /** The outcome of each request. */
  readonly outcomes = new Map<CarrierAsk, AskOutcome>()
  #faults: Array<Pending> = []
  #hanging: Array<() => void> = []
  #port = 0
  readonly #http: Server
  readonly #answer: (ask: CarrierAsk) => CarrierAnswer | Promise<CarrierAnswer>

  constructor(answer: (ask: CarrierAsk) => CarrierAnswer | Promise<CarrierAnswer>) {
    this.#answer = answer
    this.#http = createServer((request, response) => {
      // The request may break off midway.
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Without a number, it listens on a port that nobody else gets while connections are refused. */
  async listen(number?: number): Promise<void> {
    this.#port = await localPort(this.#http, number ?? (await freePort()))
  }

  /** The next `count` requests that `applies` selects get this fault. */
  fail(fault: CarrierFault, applies: Applies, count = 1): void {
    this.#faults.push({ fault, applies, left: count })
  }

  /** Sends the replies that hang, if the carrier acted. */
  replyLate(): void {
    for (const reply of this.#hanging.splice(0)) reply()
  }

  /** On: new connections get ECONNREFUSED, and open ones are closed. Off: listens on the same port again. */
  async refuseConnections(on: boolean): Promise<void> {
    if (on === !this.#http.listening) return
    if (!on) return this.listen(this.#port)
    const closed = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    await closed
  }

  stop(): Promise<void> {
    return this.refuseConnections(true)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = preciseNow()
    const url = new URL(request.url ?? "/", this.url)
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]))
    const body = Buffer.concat(chunks).toString()
    const ask = { at, method: request.method ?? "GET", path: url.pathname, query: url.searchParams, headers, body }
    this.requests.push(ask)
    const fault = this.#faultFor(ask)
    const answer = fault?.acts === false ? undefined : await this.#answer(ask)
    const late = this.lateness(ask)
    if (late > 0) await sleep(late)
    const reply = this.mutes(ask) ? "hang" : (fault?.reply ?? answer)
    this.outcomes.set(ask, { status: answer?.status, isReplied: reply === answer })
    if (reply === "hang" || reply === undefined) {
      if (answer !== undefined) this.#hanging.push(() => send(response, answer))
      return
    }
    if (reply === "reset") return resetSocket(request.socket)
    send(response, reply)
  }

  #faultFor(ask: CarrierAsk): CarrierFault | undefined {
    const pending = this.#faults.find(({ applies, left }) => left > 0 && applies(ask))
    if (pending === undefined) return undefined
    pending.left -= 1
    return pending.fault
  }
}

const send = (response: ServerResponse, { body, headers = {}, status }: CarrierAnswer): void => {
  if (body === undefined) return void response.writeHead(status, { "content-length": 0, ...headers }).end()
  const isText = typeof body === "string"
  const text = isText ? body : JSON.stringify(body)
  const type = isText ? "text/html" : "application/json"
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text), ...headers }).end(text)
}
