/** What Cloudonix requires of a request for a call. Members that are not documented are refused, so that mistakes of the adapter show. */
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { isObject, jsonIn, strayIn } from "#test/emulators/shared/json.ts"

export interface Order {
  readonly destination: string
  readonly callerId: string
  readonly cxml: string
  readonly callback: string | undefined
  readonly ringTimeoutSeconds: number
  readonly timeLimit: number | undefined
}

/** Errors are JSON with a message; their real form is not documented. */
export const errorOf = (status: number, message: string): CarrierAnswer => ({ status, body: { message, status } })

const documented = "application callback caller-id cxml destination profile routes send-digits timeLimit timeout trunk url"
const defaultRingSeconds = 60

const isNumber = (value: unknown): value is string => typeof value === "string" && /^\+?\d{7,15}$/.test(value)
const isSeconds = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value > 0

/** The order, or the reply to an invalid request. */
export const readOrder = ({ body: text, headers }: CarrierAsk): Order | CarrierAnswer => {
  const body = jsonIn(text)
  if (!headers["content-type"]?.startsWith("application/json") || !isObject(body)) return errorOf(400, "Invalid JSON")
  const stray = strayIn(body, documented)
  if (stray !== undefined) return errorOf(400, `Unknown field ${stray}`)
  const { "caller-id": callerId, callback, cxml, destination, timeLimit, timeout = defaultRingSeconds } = body
  if (destination === undefined) return errorOf(400, "Missing destination")
  if (callerId === undefined) return errorOf(400, "Missing caller-id")
  if (!isNumber(destination) || destination.startsWith("+999")) return errorOf(422, "Invalid destination")
  if (!isNumber(callerId)) return errorOf(422, "Invalid caller-id")
  if (typeof cxml !== "string" || verbsOf(cxml) === undefined) return errorOf(400, "Invalid cxml")
  if (callback !== undefined && (typeof callback !== "string" || !/^https?:/.test(callback))) return errorOf(400, "Invalid callback")
  if (!isSeconds(timeout)) return errorOf(400, "Invalid timeout")
  if (timeLimit !== undefined && !isSeconds(timeLimit)) return errorOf(400, "Invalid timeLimit")
  return { destination, callerId, cxml, callback, ringTimeoutSeconds: timeout, timeLimit }
}
