/** libphonenumber's knowledge of national numbering plans. Half a megabyte: import it only when needed. */
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  isSupportedCountry,
  parsePhoneNumberFromString,
  validatePhoneNumberLength
} from "libphonenumber-js/min"
import type { Fit, NumberingPlan } from "#core/telephony/WrittenNumber.ts"

// There are a few thousand answers, by country code and length, and each is worth keeping: parsing a number takes as long as everything else done with a
// contact.
const fits = new Map<string, Fit>()
const callingCodes: ReadonlySet<string> = new Set(getCountries().map((country) => getCountryCallingCode(country)))
const codeLengths = [1, 2, 3]

/** If a number belongs to no country: whether the metadata knows such numbers. */
const fitOf = (e164: string): Fit => {
  const code = codeLengths.map((length) => e164.slice(1, 1 + length)).find((code) => callingCodes.has(code)) ?? e164.slice(1, 4)
  const kind = `${code} ${e164.length}`
  const known = fits.get(kind)
  if (known !== undefined) return known
  const fit = isPossiblePhoneNumber(e164) ? "possible" : validatePhoneNumberLength(e164) === "TOO_LONG" ? "too long" : "impossible"
  // With a trunk prefix, a number is longer than others of its country.
  if (parsePhoneNumberFromString(e164)?.number === e164) fits.set(kind, fit)
  return fit
}

const dialedFrom = (e164: string): string | undefined => {
  const number = parsePhoneNumberFromString(e164)
  return number?.isValid() === true ? number.number : undefined
}

export const numberingPlan: NumberingPlan = { fit: fitOf, dialed: dialedFrom }

/** In these countries the leading zero belongs to the number, and is dialed from abroad too. */
const withoutTrunkPrefix: ReadonlyArray<string> = ["IT", "SM", "VA"]

/**
 * See `NationalNumbers`. Digits that would be a valid number of the country whether or not they include its country code are taken to include
 * it. Digits that are valid neither way may be a number the plans do not know yet: they are kept, except for the zero of a trunk prefix.
 */
export const internationalOf = (digits: string, country: string): string | undefined => {
  if (!isSupportedCountry(country)) return undefined
  // An international prefix that people write everywhere, whatever is dialed locally.
  if (digits.startsWith("00")) return `+${digits.replace(/^0+/, "")}`
  const code = getCountryCallingCode(country)
  if (digits.startsWith(code) && parsePhoneNumberFromString(`+${digits}`)?.isValid() === true) return `+${digits}`
  const national = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false })
  if (national?.isValid() === true) return national.number
  if (digits.startsWith("0")) return `+${code}${withoutTrunkPrefix.includes(country) ? digits : digits.slice(1)}`
  if (national?.isPossible() === true) return national.number
  return digits.startsWith(code) ? `+${digits}` : `+${code}${digits}`
}
