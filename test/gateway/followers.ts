/** Clients that follow events in both ways, as browsers and libraries do. */
import { Layer } from "effect"
import { type IncomingMessage, request } from "node:http"
import type { Test } from "tap"
import { WebSocket } from "ws"
import { FollowingTimes } from "#gateway/events/followerLimits.ts"
import { socketPath } from "#gateway/events/liveEvents.ts"
import { campaignRoutes } from "#gateway/routes/campaign.ts"
import { eventRoutes } from "#gateway/routes/event.ts"
import { quotaRoutes } from "#gateway/routes/quota.ts"
import { until } from "#test/support/engine.ts"
import { judgeOf } from "./documented.ts"

/** As by default, except that a follower's credential is checked again all the time. */
export const checkedOften = Layer.succeed(FollowingTimes, { ...FollowingTimes.defaultValue(), credentialCheck: "20 millis" })

/** An event as clients get it. */
export interface Told {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}
export interface Follower {
  readonly messages: ReadonlyArray<Told>
  readonly state: { readonly isOver: boolean }
}
/** Each message must be as the websocket's operation documents, however it is received. */
const judge = judgeOf(eventRoutes)
const documented = (text: string): Told => {
  const json = JSON.parse(text)
  const fault = judge("GET", socketPath, { status: 200, headers: { "content-type": "application/json" }, text, json })
  if (fault !== undefined) throw new Error(`Not as documented: ${fault}`)
  return json
}
/** Figures must be as the operations that they are named after document them. */
const figurePaths: Readonly<Record<string, string>> = {
  quotas: "/api/v1/organizations/quotas",
  progress: "/api/v1/campaign/1/progress"
}
const judgeFigure = judgeOf([...quotaRoutes, ...campaignRoutes])
const documentedFigure = (path: string, text: string): Json => {
  const json = JSON.parse(text)
  const fault = judgeFigure("GET", path, { status: 200, headers: { "content-type": "application/json" }, text, json })
  if (fault !== undefined) throw new Error(`Not as documented: ${fault}`)
  return json
}
type Json = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

/** Resolves when the follower has received that many events. Rejects when it cannot receive more. */
export const told = ({ messages, state }: Follower, count: number) =>
  until(`${count} events`, () => {
    if (messages.length >= count) return messages
    if (state.isOver) throw new Error(`It ended after ${messages.length} of ${count} events`)
    return undefined
  })

/** Both kinds of followers, with this key unless other headers are given. They end with the test. */
export const followersOf = (gateway: { readonly port: number }, key: string) => {
  /** Follows server-sent events. */
  const stream = (t: Test, query = "", headers: Headers = { "x-api-key": key }) => {
    const messages: Array<Told> = []
    const figures: Array<{ readonly name: string; readonly data: Json }> = []
    const state = { text: "", status: 0, contentType: "", comments: 0, isOver: false, isWhole: false }
    const path = `/api/v1/events/stream${query}`
    let answer: IncomingMessage | undefined
    const asked = request({ host: "127.0.0.1", port: gateway.port, path, headers }, (response) => {
      answer = response
      state.status = response.statusCode ?? 0
      state.contentType = response.headers["content-type"] ?? ""
      response.on("data", (chunk: Buffer) => {
        state.text += chunk.toString()
        const blocks = state.text.split("\n\n")
        state.text = blocks.pop() ?? ""
        for (const block of blocks) {
          const [, data] = /^data: (.*)$/m.exec(block) ?? []
          // Without an id: a client that comes back continues after the last event.
          const [, name = ""] = /^event: (.*)\ndata: /.exec(block) ?? []
          const figurePath = figurePaths[name]
          if (data !== undefined && figurePath !== undefined) figures.push({ name, data: documentedFigure(figurePath, data) })
          else if (data !== undefined) messages.push(documented(data))
          if (block.startsWith(":")) state.comments += 1
        }
      })
      response.on("error", () => undefined)
      response.on("close", () => {
        state.isOver = true
        state.isWhole = response.complete
      })
    })
    asked.on("error", () => {
      state.isOver = true
    })
    asked.end()
    t.teardown(() => asked.destroy())
    const pause = (isPaused: boolean) => (isPaused ? answer?.pause() : answer?.resume())
    const ended = () => until("end of the stream", () => state.isOver || undefined)
    return { messages, figures, state, pause, ended, close: () => asked.destroy() }
  }

  const socket = (t: Test, query = "", headers: Headers = { "x-api-key": key }, options: { readonly autoPong?: boolean } = {}) => {
    const messages: Array<Told> = []
    const state = { pings: 0, isOver: false }
    const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}/api/v1/events/ws${query}`, { headers, ...options })
    ws.on("message", (data) => messages.push(documented(String(data))))
    ws.on("ping", () => {
      state.pings += 1
    })
    ws.on("error", () => undefined)
    ws.once("close", () => {
      state.isOver = true
    })
    const opened = new Promise<void>((resolve) => ws.once("open", resolve))
    const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) =>
      ws.once("close", (code, reason) => resolve({ code, reason: String(reason) }))
    )
    t.teardown(() => ws.terminate())
    const pause = (isPaused: boolean) => (isPaused ? ws.pause() : ws.resume())
    return { messages, state, opened, closed, pause, close: () => ws.close() }
  }

  return { socket, stream }
}
