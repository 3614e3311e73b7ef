/** A client with nothing between it and the wire, for the emulator's own tests and for tests that need a second opinion. */
import { once } from "node:events"
import type { t } from "tap"
import { WebSocket } from "ws"
import { untilTrue } from "#test/support/until.ts"
import { type AriEmulator, type AriEmulatorOptions, startAriEmulator } from "./AriEmulator.ts"

export type AriEvent = {
  readonly type: string
  readonly timestamp: string
  readonly application: string
  readonly args?: ReadonlyArray<string>
  readonly dialstatus?: string
  readonly digit?: string
  readonly cause?: number
  readonly tech_cause?: number
  readonly channel?: { readonly id: string; readonly state: string }
  readonly peer?: { readonly id: string }
}
type Server = Pick<AriEmulator, "password" | "url" | "user">

const number = (lastThree: string): string => `+15550001${lastThree}`

export const start = async (test: Pick<typeof t, "teardown">, options: AriEmulatorOptions = {}): Promise<AriEmulator> => {
  const emulator = await startAriEmulator({ timeScale: 0.01, ringMillis: 1500, talkMillis: 4000, ...options })
  test.teardown(() => emulator.stop())
  return emulator
}

export const until = (holds: () => boolean): Promise<true> => untilTrue("what is waited for", holds)

export const credentials = ({ password, user }: Server): string => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

export const rest = async (emulator: Server, method: string, path: string, body?: object) => {
  const response = await fetch(`${emulator.url}/ari${path}`, {
    method,
    headers: { authorization: credentials(emulator), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
}

export const listen = async (emulator: AriEmulator, app = "app") => {
  const events: Array<AriEvent> = []
  const api_key = `${emulator.user}:${emulator.password}`
  const socket = new WebSocket(`${emulator.url}/ari/events?${new URLSearchParams({ app, api_key })}`)
  socket.on("message", (data) => events.push(JSON.parse(String(data))))
  await once(socket, "open")
  const of = (id: string) => events.filter((event) => (event.channel ?? event.peer)?.id === id)
  return { socket, events, of, sees: (id: string, type: string) => until(() => of(id).some((event) => event.type === type)) }
}

export const originate = (emulator: AriEmulator, id: string, lastThree: string, more = "") =>
  rest(emulator, "POST", `/channels?endpoint=PJSIP/${encodeURIComponent(number(lastThree))}@trunk&app=app&channelId=${id}${more}`)
