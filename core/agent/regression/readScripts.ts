/**
 * Reads scripts of callees, as JSON:
 *
 *     {"context": {"first_name": "Ada"},                       for all scripts
 *      "scripts": [{
 *        "name": "confirms",
 *        "context": {"appointment_time": "ten"},
 *        "starts_at": "2026-03-05T10:00:00-05:00", "time_zone": "America/New_York",
 *        "callee": [{"says": "Yes."}, {"at": "Score", "presses": "9"}, {"hears": "still there", "says": "Sorry?"},
 *                   {"silence": 12}, {"beep": true}, {"hangs_up": true}],
 *        "tools": {"find_order": {"status": 200, "body": {"state": "sent"}}},
 *        "expect": {"path": ["Remind", "Confirmed"], "variables": {"confirmed": true, "reason": {"contains": "price"}},
 *                   "disposition": "user_qualified", "says": ["goodbye"]}}]}
 *
 * A misspelled key would make a test pass that checks nothing, so unknown keys are refused.
 */
import { Schema } from "effect"
import { functionName } from "#core/agent/ToolNames.ts"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { ConfigurationProblem, mostProblems } from "#core/Problem.ts"
import { both, closed, here, integer, isNull, list, missing, number, object, record, type Rule, text } from "#core/Rule.ts"
import { isTimeZone } from "#core/TimeZone.ts"
import type { CalleeAct, CalleeScript, CalleeStep, Expectations, ExpectedValue } from "./CalleeScript.ts"
import { hasWords } from "./words.ts"

/** The scripts cannot be run. */
export class CalleeScriptsRefused extends Schema.TaggedError<CalleeScriptsRefused>()("CalleeScriptsRefused", {
  problems: Schema.Array(ConfigurationProblem)
}) {}

export const mostScripts = 50
const mostSteps = 100
const mostExpected = 100
const mostAnswers = 20
const mostTimes = 20
/** For all scripts together: their conversations share a thread with calls. */
const mostTurns = 1000
const longestName = 200
const longestSentence = 2000
const longestSilenceSeconds = 1200

const words: Rule = both(text(longestSentence), (value) =>
  typeof value !== "string" || hasWords(value) ? [] : here("Input should have at least one letter or digit")
)
const label = text(longestName, /\S/)
const labels = list(mostExpected, label)
const phrases = list(mostExpected, words)
const onlyTrue: Rule = (value) => (value === true ? [] : here("Input should be true"))
const instant: Rule = (value) =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(value) && !Number.isNaN(Date.parse(value))
    ? []
    : here("Input should be a time in ISO 8601 with its offset, such as 2026-03-05T10:00:00Z")
const zone: Rule = (value) =>
  typeof value === "string" && isTimeZone(value) ? [] : here("Input should be an IANA time zone, such as America/New_York")

const acts = {
  says: text(longestSentence, /\S/),
  presses: text(32, /^[0-9*#A-D]+$/),
  silence: number(0.1, longestSilenceSeconds),
  hangs_up: onlyTrue,
  beep: onlyTrue
}
const stepShape = closed({ at: label, hears: words, times: integer(1, mostTimes), ...acts })
const step = both(stepShape, (value) => {
  const given = isObject(value) ? Object.keys(acts).filter((name) => !isNull(value[name])) : ["not an object"]
  return given.length === 1 ? [] : here(`A step needs exactly one of ${Object.keys(acts).join(", ")}`)
})

const variable: Rule = (value) => (isObject(value) ? closed({ contains: words }, ["contains"])(value) : [])
const answerShape = closed({ status: integer(100, 599), body: () => [], fails: text(longestSentence, /\S/) })
const answer = both(answerShape, (value) =>
  isObject(value) && !isNull(value["fails"]) && (!isNull(value["status"]) || value["body"] !== undefined)
    ? here("A tool either answers with `status` and `body`, or `fails`")
    : []
)
const answers: Rule = (value) => (Array.isArray(value) ? list(mostAnswers, answer)(value) : answer(value))

const expectShape = closed({
  path: labels,
  edges: labels,
  visits: labels,
  never_visits: labels,
  variables: record(variable),
  disposition: label,
  tags: labels,
  says: phrases,
  never_says: phrases,
  calls: labels
})
const expect = both(expectShape, (value) =>
  isObject(value) && Object.values(value).every(isNull) ? here("Input should name at least one thing to expect") : []
)

const script = closed(
  {
    name: label,
    context: object({}),
    starts_at: instant,
    time_zone: zone,
    callee: list(mostSteps, step),
    tools: record(answers),
    expect
  },
  ["name", "callee", "expect"]
)
const document: Rule = closed({ context: object({}), scripts: list(mostScripts, script) }, ["scripts"])

/** Each test is known by its name. */
const sameNames: Rule = (value) => {
  const scripts: ReadonlyArray<unknown> = isObject(value) && Array.isArray(value["scripts"]) ? value["scripts"] : []
  const names = scripts.map((one) => (isObject(one) ? one["name"] : undefined))
  return names.flatMap((name, index) =>
    typeof name === "string" && names.indexOf(name) < index
      ? [{ path: ["scripts", index, "name"], message: "Another script has the same name" }]
      : []
  )
}
const notEmpty: Rule = (value) =>
  isObject(value) && Array.isArray(value["scripts"]) && value["scripts"].length === 0
    ? [{ path: ["scripts"], message: "List should have at least 1 item" }]
    : []
const notTooLong: Rule = (value) => {
  const turns = objectsIn(isObject(value) ? value["scripts"] : [])
    .flatMap(({ callee }) => objectsIn(callee))
    .reduce((sum, { times }) => sum + (typeof times === "number" ? times : 1), 0)
  return turns > mostTurns ? [{ path: ["scripts"], message: `The callees may have at most ${mostTurns} turns together, not ${turns}` }] : []
}
const rules = [document, notEmpty, sameNames, notTooLong]

/** `context`: the agent's own values for tests; the document's values override them. */
export const readScripts = (
  given: unknown,
  context: JsonObject = {}
): { readonly scripts: ReadonlyArray<CalleeScript> } | { readonly problems: ReadonlyArray<ConfigurationProblem> } => {
  const problems = (isNull(given) ? missing : rules.flatMap((rule) => rule(given))).slice(0, mostProblems)
  if (problems.length > 0 || !isObject(given)) return { problems }
  const shared = { ...context, ...objectIn(given, "context") }
  return { scripts: objectsIn(given["scripts"]).map((one) => scriptOf(one, shared)) }
}

const objectIn = (part: JsonObject, name: string): JsonObject => {
  const value = part[name]
  return isObject(value) ? value : {}
}
const objectsIn = (value: unknown): ReadonlyArray<JsonObject> => (Array.isArray(value) ? value.filter(isObject) : [])
const textIn = (part: JsonObject, name: string): string | undefined => {
  const value = part[name]
  return typeof value === "string" ? value : undefined
}
const textsIn = (part: JsonObject, name: string): ReadonlyArray<string> | undefined => {
  const value = part[name]
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined
}

const scriptOf = (given: JsonObject, context: JsonObject): CalleeScript => {
  const startsAt = textIn(given, "starts_at")
  return {
    name: textIn(given, "name") ?? "",
    context: { ...context, ...objectIn(given, "context") },
    startsAt: startsAt === undefined ? undefined : Date.parse(startsAt),
    timeZone: textIn(given, "time_zone") ?? "UTC",
    callee: objectsIn(given["callee"]).map(stepOf),
    tools: new Map(Object.entries(objectIn(given, "tools")).map(([name, answered]) => [functionName(name), answersOf(answered)])),
    expected: expectationsOf(objectIn(given, "expect"))
  }
}

const stepOf = (given: JsonObject): CalleeStep => ({
  at: textIn(given, "at"),
  hears: textIn(given, "hears"),
  times: typeof given["times"] === "number" ? given["times"] : 1,
  act: actOf(given)
})

const actOf = (given: JsonObject): CalleeAct => {
  const { hangs_up: hangsUp, silence } = given
  const [says, presses] = [textIn(given, "says"), textIn(given, "presses")]
  if (says !== undefined) return { _tag: "Says", text: says }
  if (presses !== undefined) return { _tag: "Presses", keys: presses }
  if (typeof silence === "number") return { _tag: "IsSilent", seconds: silence }
  return hangsUp === true ? { _tag: "HangsUp" } : { _tag: "Beeps" }
}

const answersOf = (given: unknown): ReadonlyArray<ToolAnswer> => objectsIn(Array.isArray(given) ? given : [given]).map(answerOf)

const answerOf = (given: JsonObject): ToolAnswer => {
  const { body, status } = given
  const reason = textIn(given, "fails")
  if (reason !== undefined) return { _tag: "Failed", reason }
  return {
    _tag: "Response",
    status: typeof status === "number" ? status : 200,
    body: typeof body === "string" ? body : JSON.stringify(body ?? {})
  }
}

const expectationsOf = (given: JsonObject): Expectations => ({
  path: textsIn(given, "path"),
  edges: textsIn(given, "edges"),
  visits: textsIn(given, "visits") ?? [],
  neverVisits: textsIn(given, "never_visits") ?? [],
  variables: Object.entries(objectIn(given, "variables")).map(([name, value]) => [name, expectedOf(value)] as const),
  disposition: textIn(given, "disposition"),
  tags: textsIn(given, "tags") ?? [],
  says: textsIn(given, "says") ?? [],
  neverSays: textsIn(given, "never_says") ?? [],
  calls: (textsIn(given, "calls") ?? []).map(functionName)
})

const expectedOf = (given: unknown): ExpectedValue => {
  if (isNull(given)) return { _tag: "Absent" }
  return isObject(given) ? { _tag: "Contains", words: textIn(given, "contains") ?? "" } : { _tag: "Equals", value: given }
}
