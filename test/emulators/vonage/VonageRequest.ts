/** What Vonage requires of a request for a call, and of one that transfers it. */
import Type, { type Static, type TSchema } from "typebox"
import { Check } from "typebox/value"
import { closed, membersIn } from "#test/emulators/shared/json.ts"

const phoneNumber = Type.String({ pattern: "^[1-9]\\d{6,14}$" })
const addresses = Type.Tuple([Type.String({ pattern: "^https?://" })])
const seconds = (maximum: number) => Type.Integer({ minimum: 1, maximum })
const Phone = Type.Object({ type: Type.Literal("phone"), number: phoneNumber })
const Socket = Type.Object({
  type: Type.Literal("websocket"),
  uri: Type.String({ pattern: "^wss?://" }),
  "content-type": Type.String({ pattern: "^audio/l16;rate=(8000|16000|24000)$" })
})
/** The action that connects a call to a websocket. */
const Connected = Type.Object({ action: Type.Literal("connect"), eventUrl: Type.Optional(addresses), endpoint: Type.Tuple([Socket]) })
/** The one that dials a destination. `eventUrl` receives the events of its leg; the reply replaces the document if nobody answers. */
const Dialed = Type.Object({
  action: Type.Literal("connect"),
  eventType: Type.Literal("synchronous"),
  eventUrl: addresses,
  from: phoneNumber,
  timeout: seconds(120),
  endpoint: Type.Tuple([Phone])
})
const Waiting = Type.Object({ action: Type.Literal("conversation") })
const behavior = Type.Enum(["continue", "hangup"])
const modes = Type.Enum(["default", "detect", "detect_beep"])
const beepTimeout = Type.Optional(Type.Integer({ minimum: 45, maximum: 120 }))
const Request = Type.Object(
  {
    advanced_machine_detection: Type.Optional(Type.Object({ behavior, mode: modes, beep_timeout: beepTimeout })),
    event_method: Type.Optional(Type.Literal("POST")),
    event_url: addresses,
    from: Phone,
    length_timer: Type.Optional(seconds(7200)),
    machine_detection: Type.Optional(behavior),
    ncco: Type.Tuple([Type.Union([Connected, Waiting])]),
    ringing_timer: Type.Optional(seconds(120)),
    to: Type.Tuple([Phone])
  },
  closed
)

export interface CallRequest {
  /** The digits of the number, without a plus. */
  readonly to: string
  readonly from: string
  readonly eventUrl: string
  /** The websocket that the answer document connects to, and where its leg's events go. */
  readonly socket: { readonly uri: string; readonly eventUrl: string } | undefined
  readonly detects: "no" | "who" | "beep"
  readonly ringSeconds: number
  readonly limitSeconds: number
}

const socketOf = ({ endpoint: [{ uri }], eventUrl }: Static<typeof Connected>, otherwise: string) => ({
  uri,
  eventUrl: eventUrl?.[0] ?? otherwise
})

/** The request, or the name of the invalid member. */
export const readRequest = (mediaType: string, text: string): CallRequest | string => {
  const { fault, members } = membersIn(Request, mediaType, text)
  if (fault !== undefined) return fault.at.startsWith("/to") ? "to[0].number" : (fault.at.split("/")[1] ?? "body")
  const { advanced_machine_detection: advanced, machine_detection: plain, ncco, ringing_timer: ringSeconds = 60 } = members
  const [[{ number: to }], { number: from }, [eventUrl], [action]] = [members.to, members.from, members.event_url, ncco]
  if (to.startsWith("999")) return "to[0].number"
  const detects = advanced === undefined ? (plain === undefined ? "no" : "who") : advanced.mode === "detect" ? "who" : "beep"
  const socket = action.action === "connect" ? socketOf(action, eventUrl) : undefined
  return { to, from, eventUrl, socket, detects, ringSeconds, limitSeconds: members.length_timer ?? 7200 }
}

export type VonageDestination = Static<typeof Dialed>

const isOne = <Schema extends TSchema>(schema: Schema, document: unknown): document is readonly [Static<Schema>] =>
  Check(Type.Tuple([schema]), document)

/** The new document of a call: one action that connects. Undefined: this emulator does not support it. */
export const readDocument = (document: unknown, eventUrl: string): CallRequest["socket"] | VonageDestination => {
  if (isOne(Dialed, document)) return document[0]
  return isOne(Connected, document) ? socketOf(document[0], eventUrl) : undefined
}

const Transfer = Type.Object({ destination: Type.Object({ type: Type.Literal("ncco"), ncco: Type.Unknown() }) })

/** The document in a request to transfer a call. */
export const documentIn = (body: object): unknown => (Check(Transfer, body) ? body.destination.ncco : undefined)
