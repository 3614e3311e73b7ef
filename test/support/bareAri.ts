/** An ARI client without any of the engine's code, for tests of the Asterisk in deploy/asterisk. */
import { WebSocket } from "ws"
import type { Asterisk } from "./asterisk.ts"
import "./priority.ts"
import { until } from "./until.ts"

interface Channel {
  readonly id: string
  readonly state: string
  readonly channelvars?: Record<string, string>
}
interface AriEvent {
  readonly type: string
  readonly channel?: Channel
  readonly cause?: number
  readonly tech_cause?: number
  readonly digit?: string
  readonly args?: ReadonlyArray<string>
}
export interface Ending {
  readonly answered: boolean
  readonly cause: number | undefined
  readonly tech: number | undefined
}

export const app = "lab-test"
const eventMillis = 600_000
let serial = 0
/** All ids have the same length, because Asterisk treats an id as taken if another one begins with it. */
export const newId = () => {
  serial += 1
  return `lab-${String(serial).padStart(6, "0")}`
}

/** Collects all events, and waits for one of them with a timeout. */
export const subscribe = async (asterisk: Asterisk, application: string) => {
  const seen: Array<AriEvent> = []
  const login = `${asterisk.user}:${asterisk.password}`
  const socket = new WebSocket(`${asterisk.ariUrl.replace("http", "ws")}/events?app=${application}`, { auth: login })
  socket.on("message", (text) => seen.push(JSON.parse(String(text)) as AriEvent))
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  const waitFor = (what: string, test: (event: AriEvent) => boolean) => until(what, () => seen.find(test), eventMillis)
  return { seen, waitFor, close: () => socket.close() }
}

export const connect = async (asterisk: Asterisk) => {
  const events = await subscribe(asterisk, app)
  const authorization = `Basic ${Buffer.from(`${asterisk.user}:${asterisk.password}`).toString("base64")}`
  const ask = async (method: string, path: string, query: Record<string, string> = {}): Promise<unknown> => {
    const response = await fetch(`${asterisk.ariUrl}${path}?${new URLSearchParams(query)}`, {
      method,
      // Asterisk closes a connection that has been idle for a while, and a request that is already on its way is then lost.
      headers: { authorization, connection: "close" },
      signal: AbortSignal.timeout(eventMillis)
    })
    const body = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${body}`)
    return body === "" ? undefined : JSON.parse(body)
  }
  const of = (type: string, id: string) => (event: AriEvent) => event.type === type && event.channel?.id === id
  const originate = async (endpoint: string, query: Record<string, string> = {}) => {
    const channelId = newId()
    const formats: Record<string, string> = endpoint.startsWith("Local/") ? { formats: "ulaw" } : {}
    await ask("POST", "/channels", { endpoint, app, channelId, timeout: "10", ...formats, ...query })
    return channelId
  }
  const answered = (id: string) => events.waitFor(`StasisStart of ${id}`, of("StasisStart", id))
  const hangup = (id: string) => ask("DELETE", `/channels/${id}`)
  const ended = async (id: string): Promise<Ending> => {
    const { cause, tech_cause } = await events.waitFor(`ChannelDestroyed of ${id}`, of("ChannelDestroyed", id))
    return { answered: events.seen.some(of("StasisStart", id)), cause, tech: tech_cause }
  }
  return { ...events, ask, originate, answered, hangup, ended }
}
