/** The report after a chaos run: what was done to the engine, and the result. Including a line for each rule it fits on one screen. */
import { type Evidence, seenCalls } from "./Evidence.ts"
import type { Verdict } from "./Judge.ts"

/** How the chaos run went, as recorded by its stage. */
interface Course {
  /** What each fault affected. */
  readonly faults: ReadonlyArray<string>
  /** How often the engine was stopped in an orderly way. */
  readonly stops: number
  /** From the first start of a campaign to the end of the last fault. */
  readonly chaosMillis: number
  /** From then until all campaigns were over. */
  readonly settlingMillis: number
  /** The output of all processes of the engine. */
  readonly output: string
}

const seconds = (millis: number) => `${Math.round(millis / 1000)} s`

/** The number of occurrences of each value, most frequent first. */
const tally = (values: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> =>
  [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length] as const).toSorted(([, a], [, b]) => b - a)
const listed = (values: ReadonlyArray<string>) =>
  tally(values)
    .map(([value, count]) => `${count} ${value}`)
    .join(", ")
const indented = ([what, count]: readonly [string, number]) => `${String(count).padStart(6)}  ${what}`

/** Printed before the rules. */
export const summary = ({ attempts, kills, log }: Evidence, course: Course): ReadonlyArray<string> => [
  `${course.faults.length} faults in ${seconds(course.chaosMillis)}; ${seconds(course.settlingMillis)} later all was settled`,
  `faults by what they befell: ${listed(course.faults)}`,
  `the engine was killed ${kills.length} times and stopped ${course.stops} times`,
  `${attempts.length} attempts: ${listed(attempts.map(({ outcome, state }) => outcome ?? state))}`,
  `${seenCalls(log).length} calls by the callees' log`
]

/** The errors that the engine logged, in order. */
export const errorsIn = (output: string) =>
  (output.match(/"level":"(?:Error|Fatal)"[^\n]*/g) ?? []).map(
    (line) => /"message":"([^"\n]*)/.exec(line)?.[1] ?? "an error without a message"
  )

/** Printed after the rules: the attempts with an unknown outcome, by cause, and the errors that the engine logged. */
export const explanations = ({ explained }: Verdict, { output }: Course): ReadonlyArray<string> => {
  const causes = Object.entries(explained).toSorted(([, a], [, b]) => b - a)
  const errors = tally(errorsIn(output))
  return [
    ...(causes.length === 0 ? ["no attempt is unknown"] : ["unknown attempts, by what explains them:", ...causes.map(indented)]),
    ...(errors.length === 0 ? ["no errors in the engine's log"] : ["errors in the engine's log:", ...errors.map(indented)])
  ]
}
