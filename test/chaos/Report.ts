/** What an operator reads when a chaos is over: what was done to the engine, and what came of it. With a line for each rule it fits a screen. */
import { type Evidence, seenCalls } from "./Evidence.ts"
import type { Verdict } from "./Judge.ts"

/** How the chaos went, as its stage knows it. */
interface Course {
  /** What each fault befell. */
  readonly faults: ReadonlyArray<string>
  /** How often the engine was stopped in order. */
  readonly stops: number
  /** From the first start of a campaign to the end of the last fault. */
  readonly chaosMillis: number
  /** From there until all was over. */
  readonly settlingMillis: number
  /** Everything that the processes of the engine have written. */
  readonly output: string
}

const seconds = (millis: number) => `${Math.round(millis / 1000)} s`

/** How often each occurs, the most frequent first. */
const tally = (values: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> =>
  [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length] as const).toSorted(([, a], [, b]) => b - a)
const listed = (values: ReadonlyArray<string>) =>
  tally(values)
    .map(([value, count]) => `${count} ${value}`)
    .join(", ")
const indented = ([what, count]: readonly [string, number]) => `${String(count).padStart(6)}  ${what}`

/** Stands before the rules. */
export const summary = ({ attempts, kills, log }: Evidence, course: Course): ReadonlyArray<string> => [
  `${course.faults.length} faults in ${seconds(course.chaosMillis)}; ${seconds(course.settlingMillis)} later all was settled`,
  `faults by what they befell: ${listed(course.faults)}`,
  `the engine was killed ${kills.length} times and stopped ${course.stops} times`,
  `${attempts.length} attempts: ${listed(attempts.map(({ outcome, state }) => outcome ?? state))}`,
  `${seenCalls(log).length} calls by the callees' log`
]

/** What the engine has complained of, in the order in which it did. */
export const errorsIn = (output: string) =>
  (output.match(/"level":"(?:Error|Fatal)"[^\n]*/g) ?? []).map(
    (line) => /"message":"([^"\n]*)/.exec(line)?.[1] ?? "an error without a message"
  )

/** Stands after the rules: the attempts of which nobody knows what became of them, by the cause; and what the engine complained of. */
export const explanations = ({ explained }: Verdict, { output }: Course): ReadonlyArray<string> => {
  const causes = Object.entries(explained).toSorted(([, a], [, b]) => b - a)
  const errors = tally(errorsIn(output))
  return [
    ...(causes.length === 0 ? ["no attempt is unknown"] : ["unknown attempts, by what explains them:", ...causes.map(indented)]),
    ...(errors.length === 0 ? ["no errors in the engine's log"] : ["errors in the engine's log:", ...errors.map(indented)])
  ]
}
