/** Vonage's errors, in both forms that its interfaces use. https://developer.vonage.com/en/api-errors */
import type { CarrierAnswer } from "#test/emulators/shared/CarrierServer.ts"

const titles = {
  forbidden: "Forbidden",
  invalid: "Bad Request",
  "not-found": "Not Found",
  "out-of-credit": "Low balance",
  throttled: "Rate Limit Hit",
  unauthorized: "Unauthorized"
} as const
type ErrorKind = keyof typeof titles

/** `parameter`: the invalid member of the request. `isOld`: the form that precedes RFC 7807. */
export const errorOf = (status: number, kind: ErrorKind, parameter?: string, isOld = false): CarrierAnswer => {
  const title = titles[kind]
  if (isOld) {
    const invalid = parameter === undefined ? {} : { invalid_parameters: { [parameter]: "Is invalid" } }
    return { status, body: { type: kind.toUpperCase().replaceAll("-", "_"), error_title: title, ...invalid } }
  }
  const invalid = parameter === undefined ? {} : { invalid_parameters: [{ name: parameter, reason: "Is invalid" }] }
  const type = `https://developer.nexmo.com/api-errors#${kind}`
  return { status, body: { type, title, detail: `${title}.`, instance: "bf0ca0bf927b3b52e3cb03217e1a1ddf", ...invalid } }
}
