/**
 * The extensions of a private exchange that may be called through a telephony configuration: short numbers without a plus that have no meaning
 * elsewhere. The configuration lists them singly (`1000`) or as ranges (`1000-1999`). Without a list there are none. Pure.
 *
 * An exchange may route a number that is not one of its extensions to the outside, so a range never covers the numbers of emergency and other
 * special services: such an extension must be listed singly. E.164 numbers begin with a plus here, so the two cannot be confused.
 */
export interface Extensions {
  readonly isEmpty: boolean
  readonly has: (number: string) => boolean
}

const lengths = [2, 3, 4, 5, 6, 7, 8]
/** The form of a list item. Both ends of a range have the same length, so `1000-1999` covers neither `01500` nor `150`. */
export const extensionItem = `^(?:[0-9]{2,8}|${lengths.map((length) => `[0-9]{${length}}-[0-9]{${length}}`).join("|")})$`
export const mostExtensions = 100

const digits = /^[0-9]{2,8}$/
/**
 * 112, 110, 15; 911 and the other N11; 988, 999; the European 116 000 to 116 999; premium directory inquiries, 118 xx; everything that begins
 * with 0, which gets an outside line in many places; and an emergency number after a 9 for an outside line.
 */
const special = /^(?:0\d*|1\d{1,2}|[2-9]11|9[89]\d|116\d{3}|118\d{2,3}|9(?:110|112|911|999))$/

/** Reads the items of a list. Invalid items are ignored. */
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
      // Strings of digits of the same length sort like numbers.
      const isWithin = ranges.some(([first, last]) => number.length === first.length && first <= number && number <= last)
      return isWithin && !special.test(number)
    }
  }
}

export const noExtensions = extensionsOf([])

/** The extensions in a stored configuration. `field` is where its adapter keeps the list, if it supports extensions. */
export const extensionsIn = (credentials: Readonly<Record<string, unknown>>, field: string | undefined): Extensions => {
  const listed = field === undefined ? undefined : credentials[field]
  return Array.isArray(listed) ? extensionsOf(listed) : noExtensions
}
