/** Telnyx' errors, in its own form. */
import type { CarrierAnswer } from "#test/emulators/shared/CarrierServer.ts"

const titles: Readonly<Record<string, string>> = {
  "10002": "Invalid phone number",
  "10004": "Missing required parameter",
  "10005": "Resource not found",
  "10009": "Authentication failed",
  "10010": "Authorization failed",
  "10011": "Too many requests",
  "10015": "Bad Request",
  "10016": "Phone number must be in +E.164 format",
  "90018": "Call has already ended",
  "90034": "Call not answered yet",
  "90103": "Dials per second exceeded"
}

export const errorOf = (status: number, code: string, pointer?: string): CarrierAnswer => {
  const title = titles[code] ?? "Error"
  const source = pointer === undefined ? {} : { source: { pointer } }
  return {
    status,
    body: { errors: [{ code, title, detail: `${title}.`, meta: { url: `https://developers.telnyx.com/${code}` }, ...source }] }
  }
}

export const dataOf = (data: unknown, meta?: unknown): CarrierAnswer => ({
  status: 200,
  body: meta === undefined ? { data } : { data, meta }
})
