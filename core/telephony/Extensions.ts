/**
 * The extensions of a private exchange that may be called through a telephony configuration: short numbers without a plus, which mean nothing
 * anywhere else. The configuration lists them, one by one (`1000`) or as ranges (`1000-1999`). Without a list there are none. Pure.
 *
 * An exchange may pass on what it has no extension for, so a range never covers what emergency and other special services are called by:
 * whoever has such an extension lists it by itself. Since E.164 numbers begin with a plus here, the two can never be taken for each other.
 */
export interface Extensions {
  readonly isEmpty: boolean
  readonly has: (number: string) => boolean
}

const lengths = [2, 3, 4, 5, 6, 7, 8]
/** Of an item of the list. Both ends of a range have the same length, so `1000-1999` covers neither `01500` nor `150`. */
export const extensionItem = `^(?:[0-9]{2,8}|${lengths.map((length) => `[0-9]{${length}}-[0-9]{${length}}`).join("|")})$`
export const mostExtensions = 100

const digits = /^[0-9]{2,8}$/
/**
 * 112, 110, 15; 911 and the other x11; 988, 999; Europe's 116 000 to 116 999; inquiries at a premium, 118 xx; whatever begins with 0, which
 * fetches an outside line in many places, and 9 for the line before an emergency number.
 */
const special = /^(?:0\d*|1\d{1,2}|[2-9]11|9[89]\d|116\d{3}|118\d{2,3}|9(?:110|112|911|999))$/

/** By its items. What is no item is passed over. */
export const extensionsOf = (items: ReadonlyArray<unknown>): Extensions => {
  const listed = items.filter((item) => typeof item === "string")
  const single = new Set(listed)
  const ranges = listed.flatMap((item) => {
    const [one = "", other] = item.split("-")
    return other === undefined ? [] : [one <= other ? ([one, other] as const) : ([other, one] as const)]
  })
  return {
    isEmpty: listed.length === 0,
    has: (number) => {
      if (!digits.test(number)) return false
      if (single.has(number)) return true
      // Texts of one length are ordered as the numbers are.
      const isWithin = ranges.some(([first, last]) => number.length === first.length && first <= number && number <= last)
      return isWithin && !special.test(number)
    }
  }
}

export const noExtensions = extensionsOf([])

/** Of a configuration as it is stored. `field`: where its provider's adapter keeps the list, if it knows extensions. */
export const extensionsIn = (credentials: Readonly<Record<string, unknown>>, field: string | undefined): Extensions => {
  const listed = field === undefined ? undefined : credentials[field]
  return Array.isArray(listed) ? extensionsOf(listed) : noExtensions
}
