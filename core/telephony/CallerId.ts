/** Chooses the number that a call shows to the callee. */

/** The numbers of a configuration that calls may show: active ones that consist of digits. */
export interface CallerIds {
  readonly preferred: string | undefined
  readonly all: ReadonlyArray<string>
  /** How many calls may show a number at once, for numbers with such a limit. */
  readonly limits?: ReadonlyMap<string, number>
  /** The configuration's other numbers. */
  readonly unusable?: NumbersLacking
}

/** How many of a configuration's numbers calls may not show, by the reason; `other`: a callee's phone cannot show them. */
export interface NumbersLacking {
  readonly inactive: number
  readonly refused: number
  readonly other: number
}

/** Why no number can be shown, although `shown` may leave out some that were refused and are not marked yet; undefined if one can. */
export const lackAmong = ({ all, unusable = { inactive: 0, other: 0, refused: 0 } }: CallerIds, shown: CallerIds) =>
  shown.all.length > 0 ? undefined : { ...unusable, refused: unusable.refused + all.length }

/** A callee's phone can show nothing else. */
const presentable = /^\+?\d{1,20}$/
export const isPresentable = (address: string): boolean => presentable.test(address)

/**
 * The number that a single call shows: the default, or else one of the others, chosen by rendezvous hashing. Callees are spread evenly over
 * them, and each callee keeps seeing the same number for as long as it exists, whatever happens to the others. Undefined when there is none.
 */
export const callerIdFor = ({ all, preferred }: CallerIds, to: string): string | undefined => {
  if (preferred !== undefined || all.length < 2) return preferred ?? all[0]
  let best: string | undefined
  let bestWeight = -1
  for (const number of all) {
    const weight = hash(`${to} ${number}`)
    if (weight > bestWeight) {
      best = number
      bestWeight = weight
    }
  }
  return best
}

/** FNV-1a with a final mix, so that numbers that differ only in the last digit do not end up close to each other. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
