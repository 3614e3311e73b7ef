/** The API, as the console asks it. The browser adds the cookie that says who is signed in. */
import { signal } from "@preact/signals"

interface Fault {
  /** `name`, or `config.account_sid`; empty if it is about the whole request. */
  readonly field: string
  readonly message: string
}

/** What the API answers if it refuses a request. `message`: for people, with the fields that are wrong. */
export class Refused extends Error {
  /** 0: there was no answer. */
  readonly status: number
  readonly faults: ReadonlyArray<Fault>

  constructor(status: number, faults: ReadonlyArray<Fault>) {
    super(faults.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; "))
    this.status = status
    this.faults = faults
  }
}

/** Nobody is signed in, or no longer. */
export const isSignedOut = signal(false)

/** Answers to what was asked before somebody signed in say nothing of them. */
let signIns = 0
export const signedIn = (): void => {
  signIns++
  isSignedOut.value = false
}

interface Violation {
  readonly loc?: ReadonlyArray<string | number>
  readonly msg?: string
}

/** `detail` of an error: words, a list of faults of fields, or an object with a message. */
const faultsOf = (detail: unknown, status: number): ReadonlyArray<Fault> => {
  if (typeof detail === "string") return [{ field: "", message: detail }]
  // The API lists them in this shape, whose first member says which part of the request is meant.
  if (Array.isArray(detail))
    return detail.map(({ loc = [], msg = "" }: Violation) => ({
      field: loc.slice(1).join("."),
      // For programs: people see that the value is wrong.
      message: msg.replace(/^Value error, /, "")
    }))
  const message = detail !== null && typeof detail === "object" && "message" in detail ? detail.message : undefined
  return [{ field: "", message: typeof message === "string" ? message : `The engine answered ${status}` }]
}

const exchange = async (method: string, path: string, sent: RequestInit): Promise<Response> => {
  try {
    return await fetch(path, { method, ...sent })
  } catch {
    throw new Refused(0, [{ field: "", message: "The engine cannot be reached" }])
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Resolves with the JSON of the answer; rejects with `Refused`. */
export const ask = async <A>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<A> => {
  const json = body === undefined ? {} : { "content-type": "application/json" }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const asked = signIns
  const response = await exchange(method, `/api/v1${path}`, { headers: { ...json, ...headers }, ...sent })
  const answer = jsonOf(await response.text())
  // The API keeps to its types.
  if (response.ok) return answer as A
  if (response.status === 401 && asked === signIns) isSignedOut.value = true
  const detail = answer !== null && typeof answer === "object" && "detail" in answer ? answer.detail : undefined
  throw new Refused(response.status, faultsOf(detail, response.status))
}

/** Sends a file to an address that the API has given for it. */
export const send = async (address: string, file: Blob): Promise<void> => {
  const { pathname, search } = new URL(address, location.href)
  const response = await exchange("PUT", `${pathname}${search}`, { headers: { "content-type": "application/octet-stream" }, body: file })
  if (response.ok) return
  const answer = jsonOf(await response.text())
  const detail = answer !== null && typeof answer === "object" && "detail" in answer ? answer.detail : undefined
  throw new Refused(response.status, faultsOf(detail, response.status))
}

/** What to tell people about it. */
export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
