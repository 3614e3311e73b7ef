/**
 * What a phone number is called, made comparable: however a client writes an address, the same line has the same normalized form. Pure.
 * - `pstn`: 8 to 15 digits, as `+` and digits. Without a `+` it takes a country to know the number.
 * - `sip_uri`: `sip:` or `sips:`; scheme and host in lower case, without the port that the scheme has anyway.
 * - `sip_extension`: whatever else, in lower case.
 */
import { isOwnNumber } from "./E164.ts"
export type PhoneAddressType = "pstn" | "sip_uri" | "sip_extension"

export interface PhoneAddress {
  readonly type: PhoneAddressType
  readonly normalized: string
}

interface Country {
  readonly dialCode: string
  /** Digits of the longest number without dial code and trunk prefix, where that is certain. */
  readonly longest?: number
  /** The zero in front belongs to the number, and is dialed from abroad too. */
  readonly keepsZero?: true
}

const countries: Readonly<Record<string, Country>> = {
  US: { dialCode: "1", longest: 10 },
  CA: { dialCode: "1", longest: 10 },
  GB: { dialCode: "44", longest: 10 },
  IN: { dialCode: "91", longest: 10 },
  AU: { dialCode: "61", longest: 9 },
  DE: { dialCode: "49" },
  FR: { dialCode: "33", longest: 9 },
  BR: { dialCode: "55", longest: 11 },
  MX: { dialCode: "52", longest: 10 },
  IT: { dialCode: "39", keepsZero: true },
  ES: { dialCode: "34", longest: 9 },
  NL: { dialCode: "31", longest: 9 },
  SE: { dialCode: "46" },
  NO: { dialCode: "47", longest: 8 },
  DK: { dialCode: "45", longest: 8 },
  FI: { dialCode: "358" },
  CH: { dialCode: "41", longest: 9 },
  AT: { dialCode: "43" },
  BE: { dialCode: "32", longest: 9 },
  LU: { dialCode: "352" },
  IE: { dialCode: "353" }
}

const needsCountry = `PSTN addresses without a leading '+' need a country_code of a country whose dial code is known: ${Object.keys(countries).join(", ")}`
const tooLong = "A phone number has at most 15 digits with its dial code"

const digitsOnly = /^\+?\d{8,15}$/
const sip = /^(sips?):(?:([^@]*)@)?(\[[0-9a-f:.]+\]|[^@:;?[\]\s]+)(?::(\d{1,5}))?([;?].*)?$/i
const defaultPort: Readonly<Record<string, string>> = { sip: "5060", sips: "5061" }

/** The address, or in a sentence why there is none. */
export const parse = (text: string, countryCode?: string): PhoneAddress | string => {
  const trimmed = text.trim()
  if (trimmed === "") return "The address is empty"
  if (/^sips?:/i.test(trimmed)) return sipUri(trimmed)
  const plain = trimmed.replace(/[\s()-]/g, "")
  if (plain === "") return "The address has neither a digit nor a letter"
  if (!digitsOnly.test(plain)) return { type: "sip_extension", normalized: plain.toLowerCase() }
  const international = plain.startsWith("+") ? plain : withDialCode(plain, countries[countryCode?.toUpperCase() ?? ""])
  if (international === undefined) return needsCountry
  if (isOwnNumber(international)) return { type: "pstn", normalized: international }
  return international.length > 16
    ? tooLong
    : "The address is no phone number: a dial code does not begin with 0, and 8 digits are the least"
}

const withDialCode = (digits: string, country: Country | undefined): string | undefined => {
  if (country === undefined) return undefined
  const { dialCode, keepsZero, longest } = country
  if (digits.startsWith("00")) return `+${digits.replace(/^0+/, "")}`
  if (digits.startsWith("0")) return `+${dialCode}${keepsZero === true ? digits : digits.slice(1)}`
  // Indian mobile numbers begin with 91 too: what a number without dial code can be is none with it.
  const hasDialCode = digits.startsWith(dialCode) && (longest === undefined || digits.length > longest)
  return hasDialCode ? `+${digits}` : `+${dialCode}${digits}`
}

const sipUri = (text: string): PhoneAddress | string => {
  const [, scheme = "", user, host = "", port, parameters = ""] = sip.exec(text) ?? []
  if (host === "") return "The SIP address is not of the form sip:user@host"
  const lower = scheme.toLowerCase()
  const at = user === undefined ? "" : `${user}@`
  const shownPort = port === undefined || port === defaultPort[lower] ? "" : `:${port}`
  return { type: "sip_uri", normalized: `${lower}:${at}${host.toLowerCase()}${shownPort}${parameters}` }
}
