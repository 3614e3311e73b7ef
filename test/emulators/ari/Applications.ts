/**
 * The Stasis applications: who is connected, what they subscribe to, and what passes their filter. One client owns an application. Events for
 * an application without a client are lost, because Asterisk does not queue them.
 */
import type { WebSocket } from "ws"
import { type Channel, timestamp } from "./Channel.ts"

export const asteriskId = "02:00:00:00:00:01"

/** Asterisk disconnects a client that leaves this much unread. */
const unreadLimitBytes = 4_000_000

export class Application {
  readonly name: string
  socket: WebSocket | undefined
  allowed: ReadonlyArray<string> = []

  constructor(name: string) {
    this.name = name
  }

  lets(type: string): boolean {
    return this.allowed.length === 0 || this.allowed.includes(type)
  }
}

export class Applications {
  delayMillis = 0
  #apps = new Map<string, Application>()
  #outbox: Array<{ readonly due: number; readonly socket: WebSocket; readonly text: string }> = []
  #postman: NodeJS.Timeout | undefined

  get(name: string): Application | undefined {
    return this.#apps.get(name)
  }

  all(): ReadonlyArray<Application> {
    return [...this.#apps.values()]
  }

  isActive(name: string): boolean {
    return this.#apps.get(name)?.socket !== undefined
  }

  /** A new client takes the application over; the previous one is told once, keeps an open socket, and never gets the application back. */
  connect(names: ReadonlyArray<string>, socket: WebSocket): void {
    for (const name of names) {
      const app = this.#apps.get(name) ?? new Application(name)
      this.#apps.set(name, app)
      if (app.socket !== undefined) this.#send(app, "ApplicationReplaced", {})
      app.socket = socket
    }
    socket.on("close", () => {
      for (const name of names) {
        const app = this.#apps.get(name)
        if (app?.socket === socket) app.socket = undefined
      }
    })
  }

  /** Sends an event to a channel's applications. `body` is called only if somebody receives it. */
  about(channel: Channel, type: string, body: () => object): void {
    if (channel.disorder !== undefined) {
      channel.disorder.add({ type, body: JSON.parse(JSON.stringify(body())) })
    } else {
      this.tell(channel.subscribers, type, body)
    }
  }

  tell(names: ReadonlyArray<string>, type: string, body: () => object): void {
    for (const name of names) this.#tellOne(name, type, body)
  }

  clear(): void {
    this.#apps.clear()
    this.#outbox = []
    clearTimeout(this.#postman)
    this.#postman = undefined
  }

  #tellOne(name: string, type: string, body: () => object): void {
    const app = this.#apps.get(name)
    if (app?.socket !== undefined && app.lets(type)) this.#send(app, type, body())
  }

  #send(app: Application, type: string, body: object): void {
    if (app.socket === undefined) return
    const event = { type, timestamp: timestamp(), ...body, asterisk_id: asteriskId, application: app.name }
    this.#post(app.socket, JSON.stringify(event))
  }

  #post(socket: WebSocket, text: string): void {
    if (this.delayMillis === 0 && this.#outbox.length === 0) return deliver(socket, text)
    const due = Math.max(performance.now() + this.delayMillis, this.#outbox.at(-1)?.due ?? 0)
    this.#outbox.push({ due, socket, text })
    this.#postman ??= setTimeout(() => this.#empty(), this.delayMillis)
  }

  #empty(): void {
    const now = performance.now()
    const waiting = this.#outbox.findIndex((letter) => letter.due > now)
    const due = this.#outbox.splice(0, waiting === -1 ? this.#outbox.length : waiting)
    for (const { socket, text } of due) deliver(socket, text)
    const next = this.#outbox[0]
    this.#postman = next === undefined ? undefined : setTimeout(() => this.#empty(), Math.max(1, next.due - now))
  }
}

const deliver = (socket: WebSocket, text: string): void => {
  if (socket.readyState !== socket.OPEN) return
  socket.send(text)
  if (socket.bufferedAmount > unreadLimitBytes) socket.terminate()
}
