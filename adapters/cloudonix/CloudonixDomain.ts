/** The requests that Cloudonix takes for a domain. */
import type { HttpRequest } from "#adapters/shared/HttpClient.ts"

/** Thousands of sessions. */
const LONGEST_LIST_BYTES = 16 * 1024 * 1024

const requestTo = (method: HttpRequest["method"], path: string, body?: object): HttpRequest => ({
  method,
  path,
  ...(body === undefined ? {} : { body: { mediaType: "application/json", text: JSON.stringify(body) } })
})
const callsIn = (domain: string): string => `/calls/${encodeURIComponent(domain)}`
const recordOf = (domain: string): string => `/customers/self/domains/${encodeURIComponent(domain)}`

export const domainRequest = (domain: string): HttpRequest => requestTo("GET", recordOf(domain))
export const numbersRequest = (domain: string): HttpRequest => requestTo("GET", `${recordOf(domain)}/dnids`)
export const orderRequest = (domain: string, order: object): HttpRequest => requestTo("POST", `${callsIn(domain)}/application`, order)
/** The sessions that live. */
export const sessionsRequest = (domain: string): HttpRequest => ({
  ...requestTo("GET", `${callsIn(domain)}/sessions`),
  maxBytes: LONGEST_LIST_BYTES
})
export const sessionRequest = (method: "GET" | "DELETE", domain: string, token: string): HttpRequest =>
  requestTo(method, `${callsIn(domain)}/sessions/${encodeURIComponent(token)}`)
