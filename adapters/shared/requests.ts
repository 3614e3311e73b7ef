/** Requests to carriers' REST interfaces: their form, their authentication, and the limits of calls in them. */
import type { HttpRequest } from "./HttpClient.ts"

/** Leaves out parameters that are undefined. */
export const get = (path: string, query: Readonly<Record<string, string | number | undefined>> = {}): HttpRequest => {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return { method: "GET", path: given.size === 0 ? path : `${path}?${given}` }
}

/** A request with a JSON body. */
export const send = (method: "POST" | "PUT", path: string, body: object): HttpRequest => ({
  method,
  path,
  body: { mediaType: "application/json", text: JSON.stringify(body) }
})

export const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

export const bearer = (token: string): string => `Bearer ${token}`

/** A range of seconds. */
interface Range {
  readonly least: number
  readonly most: number
}

/** Rounds up to whole seconds, then keeps within the range. */
export const secondsWithin = (seconds: number, { least, most }: Range): number => Math.min(Math.max(Math.ceil(seconds), least), most)

/** The engine ends a call sooner, unless it has died. */
export const durationWithin = (maxDurationSeconds: number, range: Range): number => secondsWithin(Math.ceil(maxDurationSeconds) + 30, range)
