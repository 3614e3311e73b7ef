/** Places in the dialplan as configurations name them, and how the arguments of `StasisStart` carry them there and back. */

/** Where answered calls are sent. */
export interface Dialplan {
  readonly context: string
  /** May contain `{number}` or `{digits}` in place of the callee's number. */
  readonly extension: string
  readonly priority: string
}

/** Excludes whatever would end a dialplan argument. */
export const contextName = "^[A-Za-z0-9_.-]{0,79}$"
export const extensionName = "^(?:[A-Za-z0-9_.*#+-]|\\{number\\}|\\{digits\\}){0,79}$"
export const priorityNumber = "^(?:[1-9][0-9]{0,3})?$"

export const dialplanOf = (context: string, extension: string, priority: string): Dialplan | undefined =>
  context === "" ? undefined : { context, extension: extension || "s", priority: priority || "1" }

/** Fills in the callee's number. */
export const filled = (text: string, number: string): string =>
  text.replaceAll("{number}", number).replaceAll("{digits}", number.replace("+", ""))

/** The originate's application arguments: they say where the answered call continues. */
export const appArgsOf = ({ context, extension, priority }: Dialplan, callId: string, number: string): string =>
  ["dialplan", callId, context, filled(extension, number), priority].join(",")
export const variablesOf = (application: string, callId: string): Readonly<Record<string, string>> => ({
  TRUNKLINE_APP: application,
  TRUNKLINE_CALL: callId
})

/** Reads from the arguments of a `StasisStart` where the call continues; undefined for a call that is ours. */
export const placeIn = ([kind, , context, extension, priority]: ReadonlyArray<string>): Dialplan | undefined =>
  kind === "dialplan" && context !== undefined && extension !== undefined && priority !== undefined
    ? { context, extension, priority }
    : undefined

/** The results of AMD(). They are recorded as they are set, because the dialplan may end the call right after. */
export const amdVariables: ReadonlySet<string> = new Set(["AMDSTATUS", "AMDCAUSE"])
const MOST_FOUND = 16
const LONGEST_VALUE = 256
export const plain = (value: string): string => value.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, LONGEST_VALUE)

/** Reads the `NAME=value` arguments of the `StasisStart` with which the dialplan hands a call over. */
export const foundIn = (args: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    args.slice(0, MOST_FOUND + 2).flatMap((arg) => {
      const [, name, value = ""] = /^([A-Z][A-Z0-9_]{0,63})=(.*)$/s.exec(arg) ?? []
      return name === undefined || value === "" ? [] : [[name, plain(value)] as const]
    })
  )
