/** What arrives as JSON. */
import type { Static, TSchema } from "typebox"
import { Check, Errors } from "typebox/value"

export type Json = Readonly<Record<string, unknown>>

/** Undefined: it is not JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** No members but those that the carrier documents, so that mistakes of the adapter show. */
export const closed = { additionalProperties: false } as const

/** `at`: where the first member is that the schema does not allow, as a pointer. */
interface Fault {
  readonly at: string
  readonly isMissing: boolean
}

/** The members of a body in JSON, or what is wrong with it. */
export const membersIn = <Schema extends TSchema>(
  schema: Schema,
  mediaType: string,
  text: string
): { readonly members: Static<Schema>; readonly fault: undefined } | { readonly members: undefined; readonly fault: Fault } => {
  const body = /^application\/json\b/.test(mediaType) ? jsonIn(text) : undefined
  if (Check(schema, body)) return { members: body, fault: undefined }
  const [error] = Errors(schema, body)
  const missing = error?.keyword === "required" ? error.params.requiredProperties[0] : undefined
  const at = missing === undefined ? (error?.instancePath ?? "") : `/${missing}`
  return { members: undefined, fault: { at, isMissing: missing !== undefined } }
}
