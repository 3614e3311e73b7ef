import { getCountries, getCountryCallingCode, isPossiblePhoneNumber } from "libphonenumber-js/min"

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
