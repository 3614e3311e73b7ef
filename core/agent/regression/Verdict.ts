/** Whether a conversation met its script's expectations: for each one that it did not meet, what was expected and what happened. */
import { Equal } from "effect"
import type { Conclusion } from "#core/agent/conversation/ConversationState.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { CalleeScript, CalleeStep, ExpectedValue } from "./CalleeScript.ts"
import { isNode } from "./chooseStep.ts"
import type { TranscriptLine, Walk } from "./Walk.ts"
import { isSaid, searchIn } from "./words.ts"

/** `callee`: the script itself did not fit the conversation. `run`: the conversation could not take place. */
type Check =
  | "callee"
  | "calls"
  | "disposition"
  | "edges"
  | "never_says"
  | "never_visits"
  | "path"
  | "run"
  | "says"
  | "tags"
  | "tools"
  | "variables"
  | "visits"

export interface Failure {
  readonly check: Check
  /** A sentence with what was expected and what happened. */
  readonly message: string
  /** JSON values; null where there is none. */
  readonly expected: unknown
  readonly came: unknown
}

export interface Verdict {
  readonly name: string
  readonly hasPassed: boolean
  readonly failures: ReadonlyArray<Failure>
  /** The names of the nodes, and the labels of the edges. */
  readonly path: ReadonlyArray<string>
  readonly edges: ReadonlyArray<string>
  readonly variables: JsonObject
  /** Undefined when the conversation did not conclude. */
  readonly disposition: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly transcript: ReadonlyArray<TranscriptLine>
}

export const failure = (check: Check, message: string, expected: unknown = null, came: unknown = null): Failure => ({
  check,
  message,
  expected,
  came
})

const variablesOf = (conclusion: Conclusion | undefined): JsonObject => {
  const variables = conclusion?.gathered["extracted_variables"]
  return isObject(variables) ? variables : {}
}

/** `found`: what went wrong before anything could be compared. */
export const verdictOf = ({ expected, name }: CalleeScript, walk: Walk, found: ReadonlyArray<Failure>): Verdict => {
  const { conclusion, edges, path, transcript } = walk
  const variables = variablesOf(conclusion)
  const wasSaid = searchIn(transcript.filter(({ who }) => who === "agent").map(({ text }) => text))
  const tags = conclusion?.tags ?? []
  const failures = [
    ...found,
    ...inOrder("path", expected.path, path, (node) => node.name, isNode),
    ...inOrder(
      "edges",
      expected.edges,
      edges,
      (edge) => edge.label,
      (edge, called) => edge.label === called || edge.id === called
    ),
    ...among("visits", expected.visits, (called) => path.some((node) => isNode(node, called)), "was never entered"),
    ...none("never_visits", expected.neverVisits, (called) => path.some((node) => isNode(node, called)), "was entered"),
    ...expected.variables.flatMap(([variable, value]) => variableFailure(variable, value, variables[variable])),
    ...dispositionFailure(expected.disposition, conclusion),
    ...among("tags", expected.tags, (tag) => tags.includes(tag), `is not among the tags: ${tags.join(", ") || "there are none"}`, tags),
    ...among("says", expected.says, wasSaid, "was never said"),
    ...none("never_says", expected.neverSays, wasSaid, "was said"),
    ...among("calls", expected.calls, (tool) => walk.calls.includes(tool), "was never called", walk.calls)
  ]
  return {
    name,
    hasPassed: failures.length === 0,
    failures,
    path: path.map((node) => node.name),
    edges: edges.map(({ label }) => label),
    variables,
    disposition: conclusion?.disposition,
    tags,
    transcript
  }
}

const shown = (names: ReadonlyArray<string>): string => (names.length === 0 ? "nothing" : names.join(" > "))

const inOrder = <Part>(
  check: Check,
  expected: ReadonlyArray<string> | undefined,
  came: ReadonlyArray<Part>,
  nameOf: (part: Part) => string,
  isCalled: (part: Part, name: string) => boolean
): ReadonlyArray<Failure> => {
  if (expected === undefined) return []
  const isSame = expected.length === came.length && came.every((part, index) => isCalled(part, expected[index] ?? ""))
  const names = came.map(nameOf)
  return isSame ? [] : [failure(check, `expected ${shown(expected)}; came ${shown(names)}`, expected, names)]
}

const among = (check: Check, wanted: ReadonlyArray<string>, has: (one: string) => boolean, otherwise: string, came: unknown = null) =>
  wanted.flatMap((one) => (has(one) ? [] : [failure(check, `'${one}' ${otherwise}`, one, came)]))

const none = (check: Check, unwanted: ReadonlyArray<string>, has: (one: string) => boolean, otherwise: string) =>
  unwanted.flatMap((one) => (has(one) ? [failure(check, `'${one}' ${otherwise}`, null, one)] : []))

const variableFailure = (name: string, expected: ExpectedValue, came: unknown): ReadonlyArray<Failure> => {
  const fails = (what: string, value: unknown) => [
    failure("variables", `expected ${name} to ${what}; came ${came === undefined ? "nothing" : JSON.stringify(came)}`, value, came ?? null)
  ]
  switch (expected._tag) {
    case "Absent":
      return came === undefined || came === null ? [] : fails("be absent", null)
    case "Contains":
      return typeof came === "string" && isSaid(expected.words, came)
        ? []
        : fails(`contain '${expected.words}'`, { contains: expected.words })
    case "Equals":
      return Equal.equals(expected.value, came) ? [] : fails(`be ${JSON.stringify(expected.value)}`, expected.value)
  }
}

const dispositionFailure = (expected: string | undefined, conclusion: Conclusion | undefined): ReadonlyArray<Failure> => {
  const came = conclusion?.disposition
  if (expected === undefined || expected === came) return []
  return [failure("disposition", `expected ${expected}; came ${came ?? "none: the conversation did not conclude"}`, expected, came ?? null)]
}

/** In the words of the script. */
export const describeStep = ({ act, at, hears }: CalleeStep): string => {
  const conditions = [at === undefined ? "" : ` at ${at}`, hears === undefined ? "" : ` on hearing '${hears}'`].join("")
  switch (act._tag) {
    case "Says":
      return `says '${act.text}'${conditions}`
    case "Presses":
      return `presses ${act.keys}${conditions}`
    case "IsSilent":
      return `is silent for ${act.seconds} s${conditions}`
    case "HangsUp":
      return `hangs up${conditions}`
    case "Beeps":
      return `beeps${conditions}`
  }
}
