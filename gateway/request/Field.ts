/** Building blocks for the schemas of all resources. */
import Type, { type TSchema } from "typebox"

/** The id of a row: 32 bits, so that a larger number is refused here and not by the database. */
export const id = <Id extends number>(description?: string) =>
  Type.Unsafe<Id>(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, ...(description === undefined ? {} : { description }) }))

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** May be left out or null, which mean the same. */
export const optional = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()], { default: null })

/** Absent: the value stays as it is. Null: it is cleared. */
export const clearable = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))

/** Any JSON object. */
export const object = (description?: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Record(Type.String(), Type.Unknown(), description === undefined ? {} : { description })
  )

/** The same with secrets in it. */
export const secretObject = (description: string) => Object.assign(object(description), { "x-secret": true })

/** UTC, with `Z`. */
export const instant = (description?: string) => Type.String({ format: "date-time", ...(description === undefined ? {} : { description }) })

/** A time from a client. A text of this form that is not a time, such as a thirteenth month, must be refused by the code that reads it. */
export const givenInstant = () =>
  Type.String({ format: "date-time", pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$" })

export const instantOf = (date: Date | undefined): string | null => date?.toISOString() ?? null

/** Answers contain every key that they declare: undefined becomes null. */
export const orNull = <Value>(value: Value | undefined): Value | null => value ?? null

/** A client's null means the same as an absent value. */
export const orUndefined = <Value>(value: Value | null): Value | undefined => value ?? undefined
