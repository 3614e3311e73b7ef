/**
 * ARI's operations as data, so that what is served matches the emulator's API documents, from which generic clients build their methods.
 */
import type { Applications } from "./Applications.ts"
import type { Bridges } from "./Bridges.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { Calls } from "./Calls.ts"
import type { Channel, Channels } from "./Channel.ts"
import type { Dialplan } from "./Dialplan.ts"
import type { Media } from "./Media.ts"

/** The running Asterisk, as its REST operations see it. */
export type Asterisk = {
  readonly applications: Applications
  readonly bridges: Bridges
  readonly calls: Calls
  readonly channels: Channels
  readonly dialplan: Dialplan
  readonly log: CalleeLog
  readonly media: Media
  /** Set for an Asterisk without WebSockets for audio. */
  readonly namesRtpAt: { readonly address: string; readonly port: number } | undefined
  readonly version: string
  knowsTrunk(trunk: string): boolean
  startupTime(): string
}

export type AriRequest = {
  /** The ids from the path. */
  readonly id: string
  readonly secondId: string
  /** The query parameters, and those in the body's other members. */
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  /** When it arrived, in milliseconds since the epoch with fractions. */
  readonly receivedAt: number
}

export type Answer = { readonly status: number; readonly body?: unknown }

export type Route = {
  readonly method: string
  readonly path: string
  readonly nickname: string
  readonly query: ReadonlyArray<string>
  readonly body?: string
  /** The model of the answer; absent for 204. */
  readonly answers?: string
  /** An originate: response faults apply to it. */
  readonly places?: true
  readonly handle: (asterisk: Asterisk, request: AriRequest) => Answer | Promise<Answer>
}

/** `query`: the names of its parameters. */
export const route = (
  operation: `${"GET" | "POST" | "PUT" | "DELETE"} ${string}`,
  nickname: string,
  handle: Route["handle"],
  { query = "", ...more }: Pick<Route, "answers" | "body" | "places"> & { readonly query?: string } = {}
): Route => {
  const [method = "", path = ""] = operation.split(" ")
  return { method, path, nickname, query: query.split(" ").filter(Boolean), handle, ...more }
}

/** Thrown by handlers, and answered as it is. */
export class AriRefusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(`ARI ${status}`)
    this.status = status
    this.body = body
  }
}

export const refuse = (status: number, message: string): never => {
  throw new AriRefusal(status, { message })
}

export const nothing: Answer = { status: 204 }
export const ok = (body: unknown): Answer => ({ status: 200, body })

export const channelOf = ({ channels }: Asterisk, id: string): Channel => channels.get(id) ?? refuse(404, "Channel not found")

export const stringsOf = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)])) : {}

type Match = { readonly route: Route; readonly ids: ReadonlyArray<string> }

/** Fixed paths come before those with an id, such as `/channels/externalMedia` before `/channels/{channelId}`. */
export const matcher = (routes: ReadonlyArray<Route>): ((method: string, path: string) => Match | undefined) => {
  const byShape = new Map<string, Array<{ readonly route: Route; readonly parts: ReadonlyArray<string> }>>()
  for (const route of routes.toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)) {
    const parts = route.path.split("/").slice(1)
    const shape = `${route.method} ${parts[0]} ${parts.length}`
    byShape.set(shape, [...(byShape.get(shape) ?? []), { route, parts }])
  }
  return (method, path) => {
    const asked = path.split("/").slice(1)
    for (const { parts, route } of byShape.get(`${method} ${asked[0]} ${asked.length}`) ?? []) {
      if (parts.every((part, index) => part.startsWith("{") || part === asked[index])) {
        return { route, ids: asked.filter((_, index) => parts[index]?.startsWith("{")).map(decodeURIComponent) }
      }
    }
    return undefined
  }
}
