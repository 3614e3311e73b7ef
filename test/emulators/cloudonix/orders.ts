/** What Cloudonix requires of a request for a call. */
import Type from "typebox"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { closed, membersIn } from "#test/emulators/shared/json.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"

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

const number = Type.String({ pattern: "^\\+?\\d{7,15}$" })
const seconds = Type.Optional(Type.Integer({ minimum: 1 }))
const Ordered = Type.Object(
  {
    "caller-id": number,
    callback: Type.Optional(Type.String({ pattern: "^https?://" })),
    cxml: Type.String(),
    destination: number,
    timeLimit: seconds,
    timeout: seconds
  },
  closed
)
const ofNumbers = ["/destination", "/caller-id"]

/** The order, or the reply to an invalid request. */
export const readOrder = ({ body, headers }: CarrierAsk): Order | CarrierAnswer => {
  const { fault, members } = membersIn(Ordered, headers["content-type"] ?? "", body)
  if (fault !== undefined) return errorOf(!fault.isMissing && ofNumbers.includes(fault.at) ? 422 : 400, `Invalid ${fault.at.slice(1)}`)
  const { "caller-id": callerId, callback, cxml, destination, timeLimit, timeout: ringTimeoutSeconds = 60 } = members
  if (destination.startsWith("+999")) return errorOf(422, "Invalid destination")
  if (verbsOf(cxml) === undefined) return errorOf(400, "Invalid cxml")
  return { destination, callerId, cxml, callback, ringTimeoutSeconds, timeLimit }
}
