/** Small changes of the product, each of which breaks one of its rules, and must make a test fail. `npm run sabotage` tries them out. */
import { stripTypeScriptTypes } from "node:module"

export interface Sabotage {
  /** The rule that it breaks, as one sentence. */
  readonly rule: string
  /** The product's file, from the root. */
  readonly file: string
  /** Occurs exactly once in that file. */
  readonly text: string
  readonly replacement: string
  /** The one test file that must fail, e.g. "test/store/retryRule.test.ts". */
  readonly caughtBy: string
}

/** Sabotages by the rules that they break. */
export const named = (sabotages: Readonly<Record<string, Omit<Sabotage, "rule">>>): ReadonlyArray<Sabotage> =>
  Object.entries(sabotages).map(([rule, sabotage]) => ({ rule, ...sabotage }))

/** Why the sabotage cannot be applied to `source`, the text of its file; undefined if it can. */
export const faultOf = (source: string, sabotage: Sabotage): string | undefined => {
  const { file, replacement, text } = sabotage
  const places = text === "" ? 0 : source.split(text).length - 1
  if (places !== 1) return `${file} contains the text ${places} times instead of once: ${text.trim()}`
  if (replacement === text) return `${file} would not change: ${text.trim()}`
  if (!/\.[jt]s$/.test(file)) return undefined
  try {
    stripTypeScriptTypes(sabotaged(source, sabotage))
    return undefined
  } catch (error) {
    return `${file} could not be parsed with the replacement ${replacement.trim()}: ${String(error)}`
  }
}

export const sabotaged = (source: string, { replacement, text }: Sabotage): string => source.replace(text, () => replacement)

/** Selects by rule or file, as a regular expression that ignores case. */
export const matching = (sabotages: ReadonlyArray<Sabotage>, pattern: string): ReadonlyArray<Sabotage> => {
  const wanted = new RegExp(pattern, "i")
  return sabotages.filter(({ file, rule }) => wanted.test(rule) || wanted.test(file))
}

export interface FileRun {
  /** What it printed: TAP, with whatever Node printed in between. */
  readonly output: string
  /** Undefined if it was killed. */
  readonly code: number | undefined
  readonly isExpired: boolean
}

/** A failed line with its details. Only results of subtests have a duration: they fail because of a line within them. */
const failedLine = /^ *not ok \d+(?: - (?<title>.*))?\n(?:(?<indent> +)---\n(?<details>[\s\S]*?)\n\k<indent>\.\.\.$)?/gm
const isOfSubtest = / # time=[\d.]+ms$/
/** Nothing was compared: the code threw an error, or the file did not get that far. */
const isAccident = (title: string, details: string): boolean =>
  // A property that does not hold is reported as an error as well.
  (/^ *tapCaught: /m.test(details) && !/^ *message: Property failed by returning false$/m.test(details)) ||
  /^(timeout!|test unfinished|no tests found)/.test(title)

/** What failed, in order, apart from the subtests that contain it. */
const failuresIn = (output: string): ReadonlyArray<{ readonly title: string; readonly isAssertion: boolean }> =>
  [...output.matchAll(failedLine)].flatMap(({ groups: { details = "", title = "" } = {} }) =>
    isOfSubtest.test(title) ? [] : [{ title, isAssertion: !isAccident(title, details) }]
  )

/**
 * Why a run under a sabotage shows nothing; undefined if the tests have caught it. A file that does not load, or in which code merely throws
 * errors, would fail in the same way whatever was changed: an assertion must have failed.
 */
export const missedBecause = ({ code, isExpired, output }: FileRun): string | undefined => {
  if (isExpired) return "the tests hung"
  if (code === 0) return "all its tests passed"
  const failures = failuresIn(output)
  if (failures.some(({ isAssertion }) => isAssertion)) return undefined
  const error = failures[0]?.title ?? /^.*Error\b.*$/m.exec(output)?.[0] ?? "its process ended"
  return `no assertion failed, only the code itself: ${error}`
}
