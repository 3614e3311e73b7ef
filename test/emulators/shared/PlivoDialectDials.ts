/**
 * What the carriers of Plivo's dialect require of a request for a call. Members that they do not document are refused, so that mistakes of the adapter
 * show.
 */
import { isObject, jsonIn, strayIn } from "./json.ts"

export interface Dial {
  /** The digits of the number, without a plus. */
  readonly to: string
  readonly from: string
  readonly answerUrl: string
  readonly ringUrl: string | undefined
  readonly hangupUrl: string
  readonly ringSeconds: number
  readonly limitSeconds: number
  readonly detection: "no" | "told" | "hangs up"
  readonly detectionUrl: string | undefined
}

interface DialProblem {
  readonly status: number
  readonly words: string
}

const documented =
  "answer_method answer_url caller_name fallback_method fallback_url from hangup_method hangup_on_ring hangup_url machine_detection " +
  "machine_detection_initial_greeting machine_detection_initial_silence machine_detection_maximum_speech_length machine_detection_maximum_words " +
  "machine_detection_method machine_detection_time machine_detection_url ring_method ring_timeout ring_url send_digits send_on_preanswer " +
  "sip_headers time_limit to"
const addresses = ["answer_url", "fallback_url", "hangup_url", "machine_detection_url", "ring_url"]
const methods = ["answer_method", "fallback_method", "hangup_method", "machine_detection_method", "ring_method"]

/** Refusals by the first digits of the number. */
const refusedNumbers: ReadonlyArray<readonly [prefix: string, problem: DialProblem]> = [
  ["991", { status: 403, words: "calls to this country are not permitted by the geo permissions of the account" }],
  ["992", { status: 402, words: "insufficient credit to make this call" }],
  ["993", { status: 400, words: "invalid 'to' number" }]
]

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const isAddress = (value: unknown): boolean => typeof value === "string" && value.length <= 2048 && /^https?:\/\/[^/]+/.test(value)
const secondsOf = (value: unknown, otherwise: number): number | undefined =>
  value === undefined ? otherwise : Number.isInteger(value) && Number(value) > 0 && Number(value) <= 14_400 ? Number(value) : undefined
const digitsOf = (value: unknown): string | undefined => /^\+?([1-9]\d{6,14})$/.exec(textOf(value) ?? "")?.[1]

const detections: Readonly<Record<string, Dial["detection"]>> = { "": "no", false: "no", true: "told", hangup: "hangs up" }

/** `owned`: the numbers of the account, from which calls may be placed. */
export const readDial = (mediaType: string, text: string, owned: ReadonlyArray<string>): Dial | DialProblem => {
  const bad = (words: string): DialProblem => ({ status: 400, words })
  const body = jsonIn(text)
  if (!/^application\/json\b/.test(mediaType) || !isObject(body)) return bad("the body is not JSON")
  const stray = strayIn(body, documented)
  if (stray !== undefined) return bad(`${stray} is not a parameter`)
  for (const name of ["from", "to", "answer_url"]) if (body[name] === undefined) return bad(`mandatory parameter ${name} not found`)
  const [to, from] = [digitsOf(body["to"]), digitsOf(body["from"])]
  if (to === undefined) return bad("invalid 'to' number")
  if (from === undefined || !owned.includes(from)) return bad("invalid 'from' number")
  const wrongAddress = addresses.find((name) => body[name] !== undefined && !isAddress(body[name]))
  if (wrongAddress !== undefined) return bad(`${wrongAddress} is not a valid URL`)
  const wrongMethod = methods.find((name) => body[name] !== undefined && body[name] !== "POST" && body[name] !== "GET")
  if (wrongMethod !== undefined) return bad(`${wrongMethod} is not valid`)
  const [ringSeconds, limitSeconds] = [secondsOf(body["ring_timeout"], 120), secondsOf(body["time_limit"], 14_400)]
  if (ringSeconds === undefined || limitSeconds === undefined) return bad("ring_timeout or time_limit is not valid")
  const detection = detections[textOf(body["machine_detection"]) ?? ""]
  if (detection === undefined) return bad("machine_detection is not valid")
  const [, problem] = refusedNumbers.find(([prefix]) => to.startsWith(prefix)) ?? []
  if (problem !== undefined) return problem
  const answerUrl = textOf(body["answer_url"]) ?? ""
  const [hangupUrl = answerUrl, ringUrl, detectionUrl] = ["hangup_url", "ring_url", "machine_detection_url"].map((name) =>
    textOf(body[name])
  )
  return { to, from, answerUrl, ringUrl, hangupUrl, ringSeconds, limitSeconds, detection, detectionUrl }
}

/** The members of a request to redirect a call; undefined: they are not all texts. */
export const readRedirect = (text: string): Readonly<Record<string, string>> | undefined => {
  const body = jsonIn(text)
  const members = isObject(body) ? Object.entries(body) : []
  const texts = members.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))
  return texts.length > 0 && texts.length === members.length ? Object.fromEntries(texts) : undefined
}
