/** Curves that lie on each other would hide each other: where their values are equal, each is drawn a little above the one before it. */

type Values = ReadonlyArray<number | null>

/**
 * The values as they are drawn. `step`: from a curve to the one above it, as a share of the highest value. Without any value above zero, the axis ends
 * at about one.
 */
export const apart = (curves: ReadonlyArray<Values>, step: number): ReadonlyArray<Values> => {
  const highest = curves.flat().reduce<number>((most, value) => Math.max(most, value ?? 0), 0) || 1
  return curves.map((values, curve) =>
    values.map((value, at) => {
      const below = curves.slice(0, curve).filter((other) => other[at] === value).length
      return value === null ? null : value + below * step * highest
    })
  )
}
