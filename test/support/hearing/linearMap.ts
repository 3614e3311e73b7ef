/** The linear map between the features of two recordings of the same speech, by least squares. */
import type { LinearMap } from "#adapters/voice/pocketsphinx/PhoneBand.ts"

type Vector = ReadonlyArray<number>

interface Fit {
  readonly add: (from: Vector, to: Vector) => void
  readonly map: () => LinearMap
}

/** Solves `left * x = right` by elimination. `left` is symmetric and positive definite, so no pivoting is needed. */
const solve = (left: ReadonlyArray<Vector>, right: ReadonlyArray<Vector>): ReadonlyArray<Vector> => {
  const rows = left.map((row, index) => [...row, ...(right[index] ?? [])])
  for (const [index, pivot] of rows.entries()) {
    const lead = pivot[index] ?? 1
    for (const [at, value] of pivot.entries()) pivot[at] = value / lead
    for (const row of rows) {
      const factor = row === pivot ? 0 : (row[index] ?? 0)
      if (factor !== 0) for (const [at, value] of pivot.entries()) row[at] = (row[at] ?? 0) - factor * value
    }
  }
  return rows.map((row) => row.slice(left.length))
}

const table = (height: number, width: number): ReadonlyArray<Array<number>> =>
  Array.from({ length: height }, () => Array.from({ length: width }, () => 0))
const addProduct = (sums: ReadonlyArray<Array<number>>, left: Vector, right: Vector): void => {
  for (const [index, row] of sums.entries()) for (const [at, sum] of row.entries()) row[at] = sum + (left[index] ?? 0) * (right[at] ?? 0)
}

/** Fits a map between two sets of `width` features, all with a mean of zero. */
export const fitLinearMap = (width: number): Fit => {
  const [ofSelf, ofBoth, squares] = [table(width, width), table(width, width), table(1, width)]
  let count = 0
  return {
    add: (from, to) => {
      addProduct(ofSelf, from, from)
      addProduct(ofBoth, from, to)
      addProduct(
        squares,
        [1],
        to.map((value) => value ** 2)
      )
      count++
    },
    map: () => {
      const rows = solve(ofSelf, ofBoth)
      const told = (to: number) => rows.reduce((sum, row, from) => sum + (row[to] ?? 0) * (ofBoth[from]?.[to] ?? 0), 0)
      return { rows, spread: (squares[0] ?? []).map((square, to) => (square - told(to)) / count) }
    }
  }
}
