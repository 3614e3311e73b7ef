/** Whoever gets so many things wrong is not helped by more, and a definition has room for a hundred thousand of them. */
export const mostProblems = 100

/** As `flatMap`, but what comes after the hundredth problem is not looked at. */
export const gathered = <Part, Problem>(
  parts: ReadonlyArray<Part>,
  problemsOf: (part: Part, index: number) => ReadonlyArray<Problem>
): ReadonlyArray<Problem> => {
  const found: Array<Problem> = []
  for (const [index, part] of parts.entries()) {
    found.push(...problemsOf(part, index))
    if (found.length >= mostProblems) break
  }
  return found.slice(0, mostProblems)
}

/** One check after another, until there are enough problems. */
export const firstOf = <Problem>(...checks: ReadonlyArray<() => ReadonlyArray<Problem>>): ReadonlyArray<Problem> =>
  gathered(checks, (check) => check())
