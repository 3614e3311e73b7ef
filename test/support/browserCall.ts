/** A page that makes a call: its websocket, and its browser. */
import type { Test } from "tap"
import { WebSocket } from "ws"
import { type Browser, openBrowser } from "./browser.ts"
import { until } from "./until.ts"

interface Frame {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

interface Page {
  readonly browser: Browser
  /** What it has been sent. */
  readonly frames: ReadonlyArray<Frame>
  readonly opened: Promise<void>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly send: (type: string, payload: object | null) => void
  readonly sendText: (text: string) => void
  /** Sends an offer, and takes the answer. */
  readonly negotiates: (type?: "offer" | "renegotiate", more?: object) => Promise<void>
  /** Resolves with the next frame of this type that nobody has waited for. */
  readonly next: (type: string) => Promise<Frame["payload"]>
  /** Closes the websocket, as a tab that is closed. */
  readonly closes: () => void
}

export const openPage = (t: Pick<Test, "teardown">, url: string): Page => {
  const socket = new WebSocket(url.replace(/^http/, "ws"))
  const frames: Array<Frame> = []
  const taken = new Set<Frame>()
  socket.on("message", (data) => frames.push(JSON.parse(String(data))))
  socket.on("error", () => {})
  const opened = new Promise<void>((resolve) => socket.once("open", resolve))
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: String(reason) }))
  )
  t.teardown(() => socket.terminate())
  const browser = openBrowser(t)
  const send = (type: string, payload: object | null) => socket.send(JSON.stringify({ type, payload }))
  const next = async (type: string) => {
    const found = await until(`a frame ${type}`, () => frames.find((frame) => frame.type === type && !taken.has(frame)))
    taken.add(found)
    return found.payload
  }
  return {
    browser,
    frames,
    opened,
    closed,
    send,
    sendText: (text) => socket.send(text),
    negotiates: async (type = "offer", more = {}) => {
      await opened
      send(type, { sdp: await browser.offer(), type: "offer", pc_id: "PC-1", ...more })
      await browser.answered(String((await next("answer"))["sdp"]))
    },
    next,
    closes: () => socket.close()
  }
}
