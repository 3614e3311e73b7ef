/** How a case fails, and how it reports that it does not apply. */

/** The adapter does not do what it must. */
export class Nonconformity extends Error {
  constructor({ expected, seen, why }: { readonly expected: string; readonly seen: string; readonly why: string }) {
    super(`expected ${expected}, but saw ${seen}. It matters because ${why}`)
    this.name = "Nonconformity"
  }
}

/** Thrown in a case that does not apply to this carrier, or that this world cannot show. */
export class NotAsked extends Error {}

/** `seen` is only evaluated for the error. */
export const demand = (holds: boolean, expected: string, seen: () => string, why: string): void => {
  if (!holds) throw new Nonconformity({ expected, seen: seen(), why })
}

/** Describes a value for an error. */
export const inWords = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value))
