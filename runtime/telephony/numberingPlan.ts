/** libphonenumber's knowledge of national numbering plans. Half a megabyte: import it only when needed. */
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  isSupportedCountry,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"

// Whether a number is possible depends on its country code and length, so there are a few thousand answers, and each is worth keeping: parsing a
// number takes as long as everything else done with a contact.
const answers = new Map<string, boolean>()
const callingCodes: ReadonlySet<string> = new Set(getCountries().map((country) => getCountryCallingCode(country)))
const codeLengths = [1, 2, 3]

/** Whether a number of that length exists in its country. If it belongs to no country: whether the metadata knows such numbers. */
export const isPlausible = (e164: string): boolean => {
  const code = codeLengths.map((length) => e164.slice(1, 1 + length)).find((code) => callingCodes.has(code)) ?? e164.slice(1, 4)
  const kind = `${code} ${e164.length}`
  const known = answers.get(kind)
  if (known !== undefined) return known
  const answer = isPossiblePhoneNumber(e164)
  answers.set(kind, answer)
  return answer
}

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
