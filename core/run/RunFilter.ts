/**
 * What a list of runs may be filtered by: a JSON array of `{"attribute", "type", "value"}`. A filter whose type or value says nothing
 * is no filter; an attribute that this list does not have is refused.
 */
import { Result, Schema } from "effect"

/** All of a list's filters must match; a bound that is undefined does not bind. */
export type RunFilter =
  | { readonly attribute: "dateRange"; readonly from: Date | undefined; readonly to: Date | undefined }
  | { readonly attribute: "dispositionCode"; readonly codes: ReadonlyArray<string> }
  /** Seconds, inclusive. */
  | { readonly attribute: "duration"; readonly min: number | undefined; readonly max: number | undefined }
  /** US dollars, inclusive. */
  | { readonly attribute: "tokenUsage"; readonly min: number | undefined; readonly max: number | undefined }
  | { readonly attribute: "status"; readonly isCompleted: boolean }

/** Not a JSON array of filter objects, or a date that is none. */
export class RunFilterInvalid extends Schema.TaggedError<RunFilterInvalid>()("RunFilterInvalid", {}) {}
/** An attribute that this list cannot be filtered by. */
export class RunAttributeRefused extends Schema.TaggedError<RunAttributeRefused>()("RunAttributeRefused", { attribute: Schema.String }) {}

const Dates = Schema.Struct({
  from: Schema.optionalKey(Schema.NullOr(Schema.String)),
  to: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const Codes = Schema.Struct({ codes: Schema.Array(Schema.String) })
const Range = Schema.Struct({
  min: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  max: Schema.optionalKey(Schema.NullOr(Schema.Finite))
})
const Choice = Schema.Struct({ status: Schema.String })
const Given = Schema.Array(
  Schema.Struct({ attribute: Schema.String, type: Schema.optionalKey(Schema.String), value: Schema.optionalKey(Schema.Unknown) })
)

const parseGiven = Schema.decodeUnknownResult(Schema.fromJsonString(Given))
const types: Readonly<Record<RunFilter["attribute"], string>> = {
  dateRange: "dateRange",
  dispositionCode: "multiSelect",
  duration: "numberRange",
  tokenUsage: "numberRange",
  status: "radio"
}
type Parsed = Result.Result<RunFilter | undefined, RunFilterInvalid>
const invalid = Result.fail(new RunFilterInvalid())

const isAttribute = (name: string): name is RunFilter["attribute"] => Object.hasOwn(types, name)

/** From the JSON text that the client sent. */
export const parseFilters = (text: string): Result.Result<ReadonlyArray<RunFilter>, RunFilterInvalid | RunAttributeRefused> => {
  const given = parseGiven(text)
  if (Result.isFailure(given)) return invalid
  const filters: Array<RunFilter> = []
  for (const { attribute, type, value } of given.success) {
    if (!isAttribute(attribute)) return Result.fail(new RunAttributeRefused({ attribute }))
    const parsed = type === types[attribute] ? readers[attribute](value) : Result.succeed(undefined)
    if (Result.isFailure(parsed)) return invalid
    if (parsed.success !== undefined) filters.push(parsed.success)
  }
  return Result.succeed(filters)
}

const read = <Value>(schema: Schema.Codec<Value>, use: (value: Value) => Parsed) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): Parsed => {
    const decoded = decode(value)
    return Result.isSuccess(decoded) ? use(decoded.success) : invalid
  }
}

const isoDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** A time without a zone is UTC. */
const dateOf = (text: string | null | undefined): Date | "wrong" | undefined => {
  if (text === null || text === undefined) return undefined
  const parts = isoDate.exec(text)
  if (parts === null) return "wrong"
  const [, time, , , zone] = parts
  const date = new Date(time === undefined || zone !== undefined ? text : `${text}Z`)
  return Number.isNaN(date.getTime()) ? "wrong" : date
}

const dates = read(Dates, (value) => {
  const from = dateOf(value.from)
  const to = dateOf(value.to)
  return from === "wrong" || to === "wrong" ? invalid : Result.succeed({ attribute: "dateRange", from, to })
})
const range = (attribute: "duration" | "tokenUsage") =>
  read(Range, ({ max, min }) => Result.succeed({ attribute, min: min ?? undefined, max: max ?? undefined }))
const readers: Readonly<Record<RunFilter["attribute"], (value: unknown) => Parsed>> = {
  dateRange: dates,
  dispositionCode: read(Codes, ({ codes }) => Result.succeed(codes.length === 0 ? undefined : { attribute: "dispositionCode", codes })),
  duration: range("duration"),
  tokenUsage: range("tokenUsage"),
  status: read(Choice, ({ status }) => {
    const known = status === "completed" || status === "in_progress"
    return Result.succeed(known ? { attribute: "status", isCompleted: status === "completed" } : undefined)
  })
}
