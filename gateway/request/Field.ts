/** What the shapes of all resources are made of. */
import Type, { type TSchema } from "typebox"

/** The id of a row: 32 bits, so that what is larger is refused here and not by the database. */
export const id = <Id extends number>(description?: string) =>
  Type.Unsafe<Id>(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, ...(description === undefined ? {} : { description }) }))

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** May be left out, or null, which means the same. */
export const optional = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()], { default: null })

/** Absent: it stays as it is. Null: it is cleared. */
export const clearable = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))

/** Any JSON object. */
export const object = (description?: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Record(Type.String(), Type.Unknown(), description === undefined ? {} : { description })
  )

/** UTC, with `Z`. */
export const instant = () => Type.String({ format: "date-time" })

/** One that a client gives. What has this form and is no time all the same, such as a thirteenth month, is for the reader to refuse. */
export const givenInstant = () =>
  Type.String({ format: "date-time", pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$" })

export const instantOf = (date: Date | undefined): string | null => date?.toISOString() ?? null

/** Answers keep every key that they declare: what is undefined inside is null outside. */
export const orNull = <Value>(value: Value | undefined): Value | null => value ?? null

/** A client's null is the same as nothing given. */
export const orUndefined = <Value>(value: Value | null): Value | undefined => value ?? undefined
