/** The API, as the console asks it. The browser adds the cookie that says who is signed in. */
import { signal } from "@preact/signals"

/** What the API answers if it refuses a request. `message`: for people, with the fields that are wrong. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Nobody is signed in, or no longer. */
export const isSignedOut = signal(false)

interface Fault {
  readonly loc?: ReadonlyArray<string | number>
  readonly msg?: string
}

/** `detail` of an error: words, a list of faults of fields, or an object with a message. */
const wordsOf = (detail: unknown, status: number): string => {
  if (typeof detail === "string") return detail
  if (Array.isArray(detail)) return detail.map(({ loc = [], msg = "" }: Fault) => `${loc.slice(1).join(".")}: ${msg}`).join("; ")
  const message = detail !== null && typeof detail === "object" && "message" in detail ? detail.message : undefined
  return typeof message === "string" ? message : `The engine answered ${status}`
}

const exchange = async (method: string, path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Response> => {
  const json = body === undefined ? {} : { "content-type": "application/json" }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  try {
    return await fetch(`/api/v1${path}`, { method, headers: { ...json, ...headers }, ...sent })
  } catch {
    throw new Refused(0, "The engine cannot be reached")
  }
}

/** Resolves with the JSON of the answer. */
export const ask = async <A>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<A> => {
  const response = await exchange(method, path, body, headers)
  const text = await response.text()
  const answer: unknown = text === "" ? undefined : JSON.parse(text)
  // The API keeps to its types.
  if (response.ok) return answer as A
  if (response.status === 401) isSignedOut.value = true
  const detail = answer !== null && typeof answer === "object" && "detail" in answer ? answer.detail : undefined
  throw new Refused(response.status, wordsOf(detail, response.status))
}
