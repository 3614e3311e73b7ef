/** The reasons for which Twilio refuses a call, with its codes. */
import { verbsOf } from "./twiml.ts"

interface Refusal {
  readonly status: number
  readonly code: number
  readonly message: string
}

/** Refusals by the first digits of the number. */
const refusedNumbers: ReadonlyArray<readonly [prefix: string, code: number, message: string]> = [
  ["+991", 21215, "Account not authorized to call"],
  ["+992", 21216, "Account not allowed to call"],
  ["+993", 21217, "Phone number does not appear to be valid:"],
  ["+994", 21214, "'To' phone number cannot be reached:"]
]

const isNumber = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text)
const isBetween = (text: string, least: number, most: number): boolean =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most

/** Twilio refuses host names with underscores. */
const isAddress = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !url.hostname.includes("_")
}

export const refusalOf = (form: URLSearchParams, owned: ReadonlyArray<string>): Refusal | undefined => {
  const refused = (code: number, message: string): Refusal => ({ status: 400, code, message })
  const [to, from, twiml] = [form.get("To"), form.get("From"), form.get("Twiml")]
  if (to === null) return refused(21201, "No 'To' number is specified")
  if (!isNumber(to)) return refused(21211, `The phone number you are attempting to call, ${to}, is not valid.`)
  if (from === null) return refused(21213, "Caller phone number is required")
  if (!isNumber(from)) return refused(21212, `The phone number provided as your caller id, ${from}, is not valid.`)
  if (!owned.includes(from)) return refused(21210, `Source number ${from} is not yet verified for your account.`)
  const isAnswerGiven = twiml !== null ? twiml.length <= 4000 && verbsOf(twiml) !== undefined : isAddress(form.get("Url") ?? "")
  if (!isAnswerGiven) return refused(21205, "Url is not a valid URL")
  const callbacks = ["StatusCallback", "AsyncAmdStatusCallback"].flatMap((name) => form.get(name) ?? [])
  if (!callbacks.every(isAddress)) return refused(21205, "StatusCallback is not a valid URL")
  if (!isBetween(form.get("Timeout") ?? "60", 1, 600)) return refused(21208, "Timeout is not valid")
  const [, code, message] = refusedNumbers.find(([prefix]) => to.startsWith(prefix)) ?? []
  return code === undefined ? undefined : refused(code, `${message} ${to}`)
}
