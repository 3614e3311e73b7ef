/**
 * Addresses of phone lines, made comparable: however a client writes an address, the same line has the same normalized form.
 * - `pstn`: 8 to 15 digits, as `+` and digits. Without a `+`, the country must be known.
 * - `sip_uri`: `sip:` or `sips:`; scheme and host in lower case, without the scheme's default port.
 * - `sip_extension`: anything else, in lower case.
 */
import { Effect, Result, Schema } from "effect"
import { isOwnNumber } from "./E164.ts"
import type { NationalNumbers } from "./NationalNumbers.ts"
import { bracketedZero, numberFaults, readNumber } from "./WrittenNumber.ts"

export type PhoneAddressType = "pstn" | "sip_uri" | "sip_extension"

export interface PhoneAddress {
  readonly type: PhoneAddressType
  readonly normalized: string
}

/** `reason`: a sentence for the client. */
export class PhoneAddressRefused extends Schema.TaggedError<PhoneAddressRefused>()("PhoneAddressRefused", { reason: Schema.String }) {}

const needsCountry = "PSTN addresses without a leading '+' need a country_code, such as US"
const tooLong = "A phone number has at most 15 digits with its dial code"

const digitsOnly = /^\+?\d{8,15}$/
const sip = /^(sips?):(?:([^@]*)@)?(\[[0-9a-f:.]+\]|[^@:;?[\]\s]+)(?::(\d{1,5}))?([;?].*)?$/i
const defaultPort: Readonly<Record<string, string>> = { sip: "5060", sips: "5061" }

export const parse = Effect.fnUntraced(function* (text: string, countryCode: string | undefined, national: NationalNumbers["Service"]) {
  const trimmed = text.trim()
  if (trimmed === "") return yield* refused("The address is empty")
  if (/^sips?:/i.test(trimmed)) return yield* sipUri(trimmed)
  const plain = trimmed.replace(/[\s()-]/g, "")
  if (plain === "") return yield* refused("The address has neither a digit nor a letter")
  if (!digitsOnly.test(plain)) return { type: "sip_extension", normalized: plain.toLowerCase() } satisfies PhoneAddress
  const international = bracketedZero.test(trimmed)
    ? yield* dialed(trimmed, national)
    : plain.startsWith("+")
      ? plain
      : yield* inCountry(plain, countryCode, national)
  if (international === undefined) return yield* refused(needsCountry)
  if (isOwnNumber(international)) return { type: "pstn", normalized: international } satisfies PhoneAddress
  return yield* refused(
    international.length > 16 ? tooLong : "The address is no phone number: a dial code does not begin with 0, and 8 digits are the least"
  )
})

/** A zero in brackets is dialed in some countries, and not in others. */
const dialed = Effect.fnUntraced(function* (text: string, national: NationalNumbers["Service"]) {
  const written = readNumber(text, yield* national.plan)
  return Result.isSuccess(written) ? written.success.e164 : yield* refused(`In the phone number, ${numberFaults["bracketed zero"]}`)
})

const inCountry = (digits: string, countryCode: string | undefined, national: NationalNumbers["Service"]) =>
  countryCode === undefined ? Effect.undefined : national.international(digits, countryCode.toUpperCase())

const refused = (reason: string) => new PhoneAddressRefused({ reason })

const sipUri = (text: string): Effect.Effect<PhoneAddress, PhoneAddressRefused> => {
  const [, scheme = "", user, host = "", port, parameters = ""] = sip.exec(text) ?? []
  if (host === "") return Effect.fail(refused("The SIP address is not of the form sip:user@host"))
  const lower = scheme.toLowerCase()
  const at = user === undefined ? "" : `${user}@`
  const shownPort = port === undefined || port === defaultPort[lower] ? "" : `:${port}`
  return Effect.succeed({ type: "sip_uri", normalized: `${lower}:${at}${host.toLowerCase()}${shownPort}${parameters}` })
}
