/**
 * The filters of a list of runs: a JSON array of `{"attribute", "type", "value"}`. A filter is ignored if its type is not that of its
 * attribute, or if its value does not restrict anything; a value of the wrong type makes the whole text invalid. An attribute that runs cannot
 * be filtered by is refused in the lists of a campaign or an agent, and ignored in the usage list.
 */
import { Result, Schema } from "effect"
import { isStorable } from "#core/storable.ts"
import { boundOf, type DateRange } from "./DateBound.ts"

/** All filters of a list must match. An undefined bound is no limit. */
export type RunFilter =
  | ({ readonly attribute: "dateRange" } & DateRange)
  | { readonly attribute: "dispositionCode"; readonly codes: ReadonlyArray<string> }
  /** Seconds, inclusive. */
  | { readonly attribute: "duration"; readonly min: number | undefined; readonly max: number | undefined }
  /** US dollars, inclusive. */
  | { readonly attribute: "tokenUsage"; readonly min: number | undefined; readonly max: number | undefined }
  | { readonly attribute: "status"; readonly isCompleted: boolean }
  | { readonly attribute: "runId" | "workflowId" | "campaignId"; readonly value: number }
  /** Matches numbers that contain this. */
  | { readonly attribute: "callerNumber" | "calledNumber"; readonly value: string }
  | { readonly attribute: "callDirection"; readonly callType: "inbound" | "outbound" }
  | { readonly attribute: "callChannel"; readonly channel: "telephony" | "web" | "chat" }

/** `runs`: the runs of a campaign or an agent. `usage`: those of the organization. Each has its own attributes. */
type FilteredList = "runs" | "usage"

/** The text is not a JSON array of filter objects, or a value has the wrong type. */
export class RunFilterInvalid extends Schema.TaggedError<RunFilterInvalid>()("RunFilterInvalid", {
  list: Schema.Literals(["runs", "usage"])
}) {}
/** A bound of the list is not a valid date. */
export class RunDateInvalid extends Schema.TaggedError<RunDateInvalid>()("RunDateInvalid", {}) {}
/** This list cannot be filtered by the attribute. */
export class RunAttributeRefused extends Schema.TaggedError<RunAttributeRefused>()("RunAttributeRefused", { attribute: Schema.String }) {}

const Dates = Schema.Struct({
  from: Schema.optionalKey(Schema.NullOr(Schema.String)),
  to: Schema.optionalKey(Schema.NullOr(Schema.String))
})
// A value that Postgres cannot hold would make the query fail.
const Text = Schema.String.check(Schema.makeFilter(isStorable))
const Codes = Schema.Struct({ codes: Schema.Array(Text) })
const Range = Schema.Struct({
  min: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  max: Schema.optionalKey(Schema.NullOr(Schema.Finite))
})
const Choice = Schema.Struct({ status: Schema.String })
const Id = Schema.Struct({ value: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })) })
const Part = Schema.Struct({ value: Text })
const Given = Schema.Array(
  Schema.Struct({ attribute: Schema.String, type: Schema.optionalKey(Schema.String), value: Schema.optionalKey(Schema.Unknown) })
)

const parseGiven = Schema.decodeUnknownResult(Schema.fromJsonString(Given))
const types: Readonly<Record<RunFilter["attribute"], string>> = {
  dateRange: "dateRange",
  dispositionCode: "multiSelect",
  duration: "numberRange",
  tokenUsage: "numberRange",
  status: "radio",
  runId: "number",
  workflowId: "number",
  campaignId: "number",
  callerNumber: "text",
  calledNumber: "text",
  callDirection: "radio",
  callChannel: "radio"
}
const listed: Readonly<Record<FilteredList, ReadonlySet<string>>> = {
  runs: new Set(["dateRange", "dispositionCode", "duration", "tokenUsage", "status"]),
  usage: new Set([
    ...["dispositionCode", "duration", "runId", "workflowId", "campaignId"],
    ...["callerNumber", "calledNumber", "callDirection", "callChannel"]
  ])
}
/** Undefined if the value has the wrong type. */
type Parsed = { readonly filter: RunFilter | undefined } | undefined
const none: Parsed = { filter: undefined }

const isAttribute = (name: string, list: FilteredList): name is RunFilter["attribute"] => listed[list].has(name)

const parse = <E>(
  text: string,
  list: FilteredList,
  refused: (attribute: string) => E | undefined
): Result.Result<ReadonlyArray<RunFilter>, RunFilterInvalid | E> => {
  const invalid = Result.fail(new RunFilterInvalid({ list }))
  const given = parseGiven(text)
  if (Result.isFailure(given)) return invalid
  const filters: Array<RunFilter> = []
  for (const { attribute, type, value } of given.success) {
    if (isAttribute(attribute, list)) {
      const parsed = type === types[attribute] ? readers[attribute](value) : none
      if (parsed === undefined) return invalid
      if (parsed.filter !== undefined) filters.push(parsed.filter)
    } else {
      const refusal = refused(attribute)
      if (refusal !== undefined) return Result.fail(refusal)
    }
  }
  return Result.succeed(filters)
}

/** Reads the JSON text that the client sent, for the runs of a campaign or an agent. */
export const parseFilters = (text: string) => parse(text, "runs", (attribute) => new RunAttributeRefused({ attribute }))

/** The same for the runs of an organization. Attributes that this list does not have are ignored. */
export const parseUsageFilters = (text: string) => parse<never>(text, "usage", () => undefined)

/** The time bounds of a list; either can be missing. */
export const parseDates = (from: string | undefined, to: string | undefined): Result.Result<ReadonlyArray<RunFilter>, RunDateInvalid> => {
  const parsed = dates({ from: from ?? null, to: to ?? null })
  if (parsed === undefined) return Result.fail(new RunDateInvalid())
  return Result.succeed(parsed.filter === undefined ? [] : [parsed.filter])
}

const read = <Value>(schema: Schema.Codec<Value>, use: (value: Value) => RunFilter | undefined | "wrong") => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): Parsed => {
    const decoded = decode(value)
    if (Result.isFailure(decoded)) return undefined
    const filter = use(decoded.success)
    return filter === "wrong" ? undefined : { filter }
  }
}

const dates = read(Dates, ({ from, to }) => {
  const bounds = [from, to].map((text) => (text === undefined || text === null ? undefined : (boundOf(text) ?? "wrong")))
  const [first, last] = bounds
  if (first === "wrong" || last === "wrong") return "wrong"
  return first === undefined && last === undefined ? undefined : { attribute: "dateRange", from: first, to: last }
})
const range = (attribute: "duration" | "tokenUsage") =>
  read(Range, ({ max, min }) => ({ attribute, min: min ?? undefined, max: max ?? undefined }))
const id = (attribute: "runId" | "workflowId" | "campaignId") => read(Id, ({ value }) => ({ attribute, value }))
const part = (attribute: "callerNumber" | "calledNumber") => read(Part, ({ value }) => (value === "" ? undefined : { attribute, value }))
const readers: Readonly<Record<RunFilter["attribute"], (value: unknown) => Parsed>> = {
  dateRange: dates,
  dispositionCode: read(Codes, ({ codes }) => (codes.length === 0 ? undefined : { attribute: "dispositionCode", codes })),
  duration: range("duration"),
  tokenUsage: range("tokenUsage"),
  status: read(Choice, ({ status }) =>
    status === "completed" || status === "in_progress" ? { attribute: "status", isCompleted: status === "completed" } : undefined
  ),
  runId: id("runId"),
  workflowId: id("workflowId"),
  campaignId: id("campaignId"),
  callerNumber: part("callerNumber"),
  calledNumber: part("calledNumber"),
  callDirection: read(Choice, ({ status }) =>
    status === "inbound" || status === "outbound" ? { attribute: "callDirection", callType: status } : undefined
  ),
  callChannel: read(Choice, ({ status }) =>
    status === "telephony" || status === "web" || status === "chat" ? { attribute: "callChannel", channel: status } : undefined
  )
}
