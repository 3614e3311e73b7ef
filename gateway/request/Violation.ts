/** One place where a request does not fit its schema: an entry of the `detail` of a 422. */
import { fieldRequired } from "#core/Problem.ts"

export type Location = ReadonlyArray<string | number>

/** One entry of the `detail` of a 422. */
export interface Violation {
  readonly type: string
  readonly loc: Location
  readonly msg: string
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

export const missing = (loc: Location, input: unknown): Violation => ({ type: "missing", loc, msg: fieldRequired.message, input })

export const valueError = (loc: Location, input: unknown, text: string): Violation => ({
  type: "value_error",
  loc,
  msg: `Value error, ${text}`,
  input,
  ctx: { error: {} }
})
