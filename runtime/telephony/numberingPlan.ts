/** What libphonenumber knows of the countries' numbers. Half a megabyte: import it when it is needed. */
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  isSupportedCountry,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"

// A number is possible by its country code and its length, so there are a few thousand answers, and each is worth keeping: parsing a
// number takes as long as everything else that is done with a contact.
const answers = new Map<string, boolean>()
const callingCodes: ReadonlySet<string> = new Set(getCountries().map((country) => getCountryCallingCode(country)))
const codeLengths = [1, 2, 3]

/** Whether a number of that length exists in its country. For numbers that belong to no country: whether anybody says that they exist. */
export const isPlausible = (e164: string): boolean => {
  const code = codeLengths.map((length) => e164.slice(1, 1 + length)).find((code) => callingCodes.has(code)) ?? e164.slice(1, 4)
  const kind = `${code} ${e164.length}`
  const known = answers.get(kind)
  if (known !== undefined) return known
  const answer = isPossiblePhoneNumber(e164)
  answers.set(kind, answer)
  return answer
}

/** The zero in front belongs to the number, and is dialed from abroad too. */
const withoutTrunkPrefix: ReadonlyArray<string> = ["IT", "SM", "VA"]

/**
 * See `NationalNumbers`. Digits that are a number of the country both with and without its code in front are taken to have it. What is no
 * number of the country either way may be one that the plans do not know yet: it keeps what it has, except for the zero of a trunk prefix.
 */
export const internationalOf = (digits: string, country: string): string | undefined => {
  if (!isSupportedCountry(country)) return undefined
  // An international prefix that people write wherever they are, whatever is dialed there.
  if (digits.startsWith("00")) return `+${digits.replace(/^0+/, "")}`
  const code = getCountryCallingCode(country)
  if (digits.startsWith(code) && parsePhoneNumberFromString(`+${digits}`)?.isValid() === true) return `+${digits}`
  const national = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false })
  if (national?.isValid() === true) return national.number
  if (digits.startsWith("0")) return `+${code}${withoutTrunkPrefix.includes(country) ? digits : digits.slice(1)}`
  if (national?.isPossible() === true) return national.number
  return digits.startsWith(code) ? `+${digits}` : `+${code}${digits}`
}
