/** What is wrong with a document that a client sent, and how many problems are collected before the search stops. */
import { Schema } from "effect"

/** `path` leads from the document's root, such as `["llm", "api_key"]`. */
export const ConfigurationProblem = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
})
export type ConfigurationProblem = typeof ConfigurationProblem.Type

/** The message of the problem that something required is not there. Clients are told so by a type of its own. */
export const missingMessage = "Field required"
export const isMissing = ({ message }: { readonly message: string }): boolean => message === missingMessage

/** More would not help the client, and a definition has room for a hundred thousand. */
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
