/** What arrives as JSON. */

export type Json = Readonly<Record<string, unknown>>

/** Undefined: it is not JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

export const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most

/** The first member that is not documented. `documented`: the names of those that are, separated by spaces. */
export const strayIn = (body: object, documented: string): string | undefined => {
  const names = documented.split(" ")
  return Object.keys(body).find((name) => !names.includes(name))
}
