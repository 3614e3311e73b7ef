/** Acme on this machine: it accepts calls, behaves as the last three digits of their numbers say, sends callbacks, and counts requests. */
import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

/** The ends of calls by the last three digits. A phone rings for a moment first. */
const ends: Readonly<Record<string, string>> = {
  "002": "busy",
  "007": "rejected",
  "008": "unknown-number",
  "009": "congested",
  "013": "no-answer"
}
/** These callees answer; the first one stays, the others hang up. The last one's callbacks come twice, out of order, and before the reply. */
export const answering = { stays: "015", leaves: "001", disorderly: "006" }
/** This phone rings until the timeout. */
const ringing = "003"

const MOMENT_MILLIS = 20
const TALK_MILLIS = 100

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
interface Call {
  readonly id: string
  readonly to: string
  readonly statusUrl: string
  readonly ringMillis: number
  status: string
  at: number
  answeredAt: number | undefined
  endedBy: "us" | "callee" | "timeout" | undefined
}

const isOver = ({ endedBy }: Call) => endedBy !== undefined
const recordOf = ({ answeredAt, at, id, status }: Call) => ({
  id,
  status,
  at,
  ...(answeredAt === undefined ? {} : { answered_at: answeredAt })
})

export class AcmeCarrier {
  readonly token = "acme-token-0123456789"
  /** The numbers of all requests for calls, whatever their results. */
  readonly requested: Array<string> = []
  readonly calls = new Map<string, Call>()
  #spoiled: { readonly places: boolean; readonly reply: "lost" | "late" | Answer } | undefined
  #late: () => void = () => {}
  readonly #http = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy())
  })
  #closed = new AbortController()

  static async start(): Promise<AcmeCarrier> {
    const carrier = new AcmeCarrier()
    await new Promise<void>((resolve) => carrier.#http.listen({ host: "127.0.0.1", port: 0 }, resolve))
    return carrier
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** The next request for a call gets this reply. */
  spoil(places: boolean, reply: "lost" | "late" | Answer): void {
    this.#spoiled = { places, reply }
  }

  replyLate(): void {
    this.#late()
  }

  callTo(number: string): Call | undefined {
    return [...this.calls.values()].find(({ to }) => to === number)
  }

  async stop(): Promise<void> {
    this.#closed.abort()
    const closed = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const [, what, id = "", action] = (request.url ?? "").split("/")
    const isCall = what === "calls" && request.method === "POST" && id === ""
    const isKnown = request.headers.authorization === `Bearer ${this.token}`
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
    const spoiled = isCall ? this.#spoiled : undefined
    if (isCall) {
      this.requested.push(body.to)
      this.#spoiled = undefined
    }
    const answer = (): Answer | Promise<Answer> => {
      if (!isKnown) return { status: 401, body: { code: "unauthorized" } }
      if (what === "account") return { status: 200, body: { account: "acme" } }
      if (isCall) return spoiled?.places === false ? { status: 500 } : this.#place(body)
      const call = this.calls.get(id)
      if (call === undefined) return { status: 404, body: { code: "unknown_call" } }
      if (action === "hangup") this.#end(call, call.answeredAt === undefined ? "canceled" : "completed", "us")
      return { status: 200, body: recordOf(call) }
    }
    const own = await answer()
    if (spoiled?.reply === "lost") return void request.socket.destroy()
    if (spoiled?.reply === "late") {
      this.#late = () => send(response, own)
      return
    }
    send(response, spoiled?.reply ?? own)
  }

  async #place(body: Readonly<Record<string, string>>): Promise<Answer> {
    const { id = "", ring_seconds, status_url: statusUrl = "", to = "" } = body
    const call: Call = {
      id,
      to,
      statusUrl,
      ringMillis: Number(ring_seconds) * 1000,
      status: "accepted",
      at: Date.now(),
      answeredAt: undefined,
      endedBy: undefined
    }
    this.calls.set(id, call)
    if (to.endsWith(answering.disorderly)) await this.#disorder(call)
    else this.#live(call).catch(() => {})
    return { status: 201, body: { id } }
  }

  async #live(call: Call): Promise<void> {
    const ending = call.to.slice(-3)
    await this.#after(MOMENT_MILLIS)
    this.#turn(call, "ringing")
    const end = ends[ending]
    await this.#after(ending === ringing ? call.ringMillis : MOMENT_MILLIS)
    if (ending === ringing || end !== undefined) return this.#end(call, end ?? "no-answer", end === undefined ? "timeout" : "callee")
    this.#turn(call, "answered")
    if (ending === answering.stays) return
    await this.#after(TALK_MILLIS)
    this.#end(call, "completed", "callee")
  }

  async #disorder(call: Call): Promise<void> {
    const bodies = ["ringing", "answered", "completed"].map((status, n) => JSON.stringify({ id: call.id, status, at: Date.now() + n }))
    Object.assign(call, { status: "completed", answeredAt: Date.now(), endedBy: "callee" })
    for (const body of [...bodies.toReversed(), ...bodies]) await this.#report(call, body)
  }

  #after(millis: number): Promise<void> {
    return wait(millis, undefined, { signal: this.#closed.signal })
  }

  #turn(call: Call, status: string): void {
    if (isOver(call)) return
    Object.assign(call, { status, at: Date.now() })
    if (status === "answered") call.answeredAt = call.at
    this.#report(call, JSON.stringify({ id: call.id, status, at: call.at })).catch(() => {})
  }

  #end(call: Call, status: string, endedBy: NonNullable<Call["endedBy"]>): void {
    if (isOver(call)) return
    this.#turn(call, status)
    call.endedBy = endedBy
  }

  async #report({ statusUrl }: Call, body: string): Promise<void> {
    const signature = createHmac("sha256", this.token).update(body).digest("hex")
    const headers = { "content-type": "application/json", "acme-signature": signature }
    await fetch(statusUrl, { method: "POST", headers, body, signal: this.#closed.signal })
  }
}

const send = (response: ServerResponse, { body, headers = {}, status }: Answer): void => {
  const isText = typeof body === "string"
  const text = body === undefined ? "" : isText ? body : JSON.stringify(body)
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers }).end(text)
}
