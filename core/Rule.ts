/** Rules for JSON documents of clients. A rule returns everything that is wrong with a value, and where. */
import { isObject } from "./Json.ts"
import { type ConfigurationProblem, fieldRequired } from "./Problem.ts"

export type Rule = (value: unknown) => ReadonlyArray<ConfigurationProblem>

export const here = (message: string): ReadonlyArray<ConfigurationProblem> => [{ path: [], message }]
export const below = (at: string | number, problems: ReadonlyArray<ConfigurationProblem>): ReadonlyArray<ConfigurationProblem> =>
  problems.map((problem) => ({ ...problem, path: [at, ...problem.path] }))
export const missing: ReadonlyArray<ConfigurationProblem> = [{ path: [], ...fieldRequired }]

/** A client's null means the same as an absent value. */
export const isNull = (value: unknown): value is null | undefined => value === null || value === undefined

export const boolean: Rule = (value) => (typeof value === "boolean" ? [] : here("Input should be a valid boolean"))

export const number =
  (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): Rule =>
  (value) =>
    typeof value === "number" ? within(value, min, max) : here("Input should be a valid number")

export const integer =
  (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): Rule =>
  (value) => {
    if (typeof value !== "number") return here("Input should be a valid integer")
    if (!Number.isInteger(value)) return here("Input should be a valid integer, got a number with a fractional part")
    return within(value, min, max)
  }

const within = (value: number, min: number, max: number): ReadonlyArray<ConfigurationProblem> => {
  if (value < min) return here(`Input should be greater than or equal to ${min}`)
  return value > max ? here(`Input should be less than or equal to ${max}`) : []
}

export const text =
  (maxLength = Number.POSITIVE_INFINITY, pattern?: RegExp): Rule =>
  (value) => {
    if (typeof value !== "string") return here("Input should be a valid string")
    if (value.length > maxLength) return here(`String should have at most ${maxLength} characters`)
    return pattern === undefined || pattern.test(value) ? [] : here(`String should match pattern '${pattern.source}'`)
  }

export const oneOf =
  (...words: ReadonlyArray<string>): Rule =>
  (value) =>
    words.some((word) => word === value) ? [] : here(`Input should be ${words.map((word) => `'${word}'`).join(" or ")}`)

export const list =
  (maxItems: number, rule: Rule): Rule =>
  (value) => {
    if (!Array.isArray(value)) return here("Input should be a valid list")
    if (value.length > maxItems) return here(`List should have at most ${maxItems} items after validation, not ${value.length}`)
    return value.flatMap((one: unknown, index) => below(index, rule(one)))
  }

/** An object whose members all follow one rule, whatever their names. */
export const record =
  (rule: Rule): Rule =>
  (value) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, one]) => (isNull(one) ? [] : below(name, rule(one))))
      : here("Input should be a valid dictionary")

/** Members without a rule are allowed. */
export const object =
  (rules: Readonly<Record<string, Rule>>, required: ReadonlyArray<string> = []): Rule =>
  (value) => {
    if (!isObject(value)) return here("Input should be a valid dictionary")
    const absent = required.filter((name) => isNull(value[name])).flatMap((name) => below(name, missing))
    return [...absent, ...Object.entries(rules).flatMap(([name, rule]) => (isNull(value[name]) ? [] : below(name, rule(value[name]))))]
  }

/** Members without a rule are refused, so that a misspelled one is not silently ignored. */
export const closed = (rules: Readonly<Record<string, Rule>>, required: ReadonlyArray<string> = []): Rule => {
  const check = object(rules, required)
  return (value) => {
    const unknown = isObject(value) ? Object.keys(value).filter((name) => !Object.hasOwn(rules, name)) : []
    const known = Object.keys(rules).join(", ")
    return [...check(value), ...unknown.flatMap((name) => below(name, here(`Extra inputs are not permitted; known are ${known}`)))]
  }
}

/** Applies both rules. */
export const both =
  (one: Rule, other: Rule): Rule =>
  (value) => [...one(value), ...other(value)]
