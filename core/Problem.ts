/** Problems in a document that a client sent, and how many are collected before the search stops. */
import { Schema } from "effect"

/** What is wrong in one place. A missing value is marked, because clients are told about it with an error type of its own. */
export const faultFields = { message: Schema.String, isMissing: Schema.optionalKey(Schema.Literal(true)) }
export interface Fault {
  readonly message: string
  readonly isMissing?: true
}
export const fault = (message: string): Fault => ({ message })
export const fieldRequired: Fault = { message: "Field required", isMissing: true }

/** `path` leads from the document's root, such as `["llm", "api_key"]`. */
export const ConfigurationProblem = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  ...faultFields
})
export type ConfigurationProblem = typeof ConfigurationProblem.Type

/** More would not help the client, and a definition can have a hundred thousand of them. */
export const mostProblems = 100

/** Like `flatMap`, but stops after `mostProblems` problems. */
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

/** Runs one check after another, until there are enough problems. */
export const firstOf = <Problem>(...checks: ReadonlyArray<() => ReadonlyArray<Problem>>): ReadonlyArray<Problem> =>
  gathered(checks, (check) => check())
