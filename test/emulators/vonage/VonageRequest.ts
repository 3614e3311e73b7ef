/** What Vonage requires of a request for a call. Members that it does not document are refused, so that mistakes of the adapter show. */
import { isObject, isWithin, type Json, jsonIn, strayIn } from "#test/emulators/shared/json.ts"

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

const documented =
  "advanced_machine_detection answer_method answer_url event_method event_url from length_timer machine_detection ncco random_from_number " +
  "ringing_timer to"
const actions = new Set(["connect", "conversation", "input", "notify", "record", "stream", "talk"])

const phoneIn = (endpoint: unknown): string | undefined => {
  const number = isObject(endpoint) && endpoint["type"] === "phone" ? endpoint["number"] : undefined
  return typeof number === "string" && /^[1-9]\d{6,14}$/.test(number) ? number : undefined
}

/** The one address in a list of one. */
const addressIn = (value: unknown, scheme: RegExp): string | undefined => {
  const [only, another]: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
  return typeof only === "string" && another === undefined && scheme.test(only) ? only : undefined
}

/** Where the action connects to; undefined: it is not valid. */
const socketIn = ({ endpoint, eventUrl: eventUrls }: Json, otherwise: string): CallRequest["socket"] => {
  const [to, another]: ReadonlyArray<unknown> = Array.isArray(endpoint) ? endpoint : []
  if (!isObject(to) || another !== undefined || to["type"] !== "websocket") return undefined
  const { "content-type": type, headers = {}, uri } = to
  const eventUrl = eventUrls === undefined ? otherwise : addressIn(eventUrls, /^https?:\/\//)
  const isAudio = /^audio\/l16;rate=(8000|16000|24000)$/.test(String(type)) && JSON.stringify(headers).length <= 512
  return typeof uri === "string" && /^wss?:\/\//.test(uri) && isAudio && eventUrl !== undefined ? { uri, eventUrl } : undefined
}

const isAction = (action: unknown): action is Json => isObject(action) && actions.has(String(action["action"]))

const detectionIn = ({ advanced_machine_detection: advanced, machine_detection: plain }: Json): CallRequest["detects"] | undefined => {
  const behaviors: ReadonlyArray<unknown> = ["continue", "hangup"]
  if (advanced === undefined) return plain === undefined ? "no" : behaviors.includes(plain) ? "who" : undefined
  if (!isObject(advanced) || !behaviors.includes(advanced["behavior"]) || !isWithin(advanced["beep_timeout"] ?? 45, 45, 120))
    return undefined
  return advanced["mode"] === "detect" ? "who" : ["default", "detect_beep"].includes(String(advanced["mode"])) ? "beep" : undefined
}

/** The request, or the name of the invalid member. */
export const readRequest = (mediaType: string, text: string): CallRequest | string => {
  const body = jsonIn(text)
  if (!/^application\/json\b/.test(mediaType) || !isObject(body)) return "body"
  const stray = strayIn(body, documented)
  if (stray !== undefined) return stray
  const [callee, another]: ReadonlyArray<unknown> = Array.isArray(body["to"]) ? body["to"] : []
  const [to, from] = [phoneIn(callee), phoneIn(body["from"])]
  if (to === undefined || another !== undefined || to.startsWith("999")) return "to[0].number"
  if (from === undefined) return "from.number"
  const { event_method: method = "POST", length_timer: limitSeconds = 7200, ncco, ringing_timer: ringSeconds = 60 } = body
  const eventUrl = addressIn(body["event_url"], /^https?:\/\//)
  if (eventUrl === undefined) return "event_url"
  const document: ReadonlyArray<unknown> = Array.isArray(ncco) ? ncco : []
  const connect = document.filter(isAction).find(({ action }) => action === "connect")
  const socket = connect === undefined ? undefined : socketIn(connect, eventUrl)
  const isDocument = document.length > 0 && document.every(isAction) && (connect === undefined || socket !== undefined)
  if (!isDocument || body["answer_url"] !== undefined) return "ncco"
  if (method !== "POST") return "event_method"
  if (!isWithin(ringSeconds, 1, 120)) return "ringing_timer"
  if (!isWithin(limitSeconds, 1, 7200)) return "length_timer"
  const detects = detectionIn(body)
  return detects === undefined ? "machine_detection" : { to, from, eventUrl, socket, detects, ringSeconds, limitSeconds }
}

/** The destination that is to be connected to a call. */
export interface VonageDestination {
  readonly number: string
  readonly shown: string
  readonly seconds: number
  /** Receives the events of the destination's leg; its reply replaces the document if nobody answers. */
  readonly eventUrl: string
}

/** The new document of a call: one action that connects. Undefined: this emulator does not support it. */
export const readDocument = (document: unknown, eventUrl: string): CallRequest["socket"] | VonageDestination => {
  const [connect, another]: ReadonlyArray<unknown> = Array.isArray(document) ? document : []
  if (!isAction(connect) || connect["action"] !== "connect" || another !== undefined) return undefined
  const { endpoint, eventType, eventUrl: eventUrls, from, timeout } = connect
  const number = phoneIn(Array.isArray(endpoint) ? endpoint[0] : undefined)
  if (number === undefined) return socketIn(connect, eventUrl)
  const told = addressIn(eventUrls, /^https?:\/\//)
  const isWhole = told !== undefined && eventType === "synchronous" && isWithin(timeout, 1, 120) && /^[1-9]\d{6,14}$/.test(String(from))
  return isWhole ? { eventUrl: told, number, seconds: timeout, shown: String(from) } : undefined
}

/** The document in a request to transfer a call. */
export const documentIn = ({ destination }: Json): unknown =>
  isObject(destination) && destination["type"] === "ncco" ? destination["ncco"] : undefined
