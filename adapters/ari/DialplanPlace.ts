/** Places in the dialplan as configurations name them, and what travels in the arguments of `StasisStart` on the way there and back. */

/** Where answered calls are sent. */
export interface Dialplan {
  readonly context: string
  /** With `{number}` or `{digits}` in place of the callee's. */
  readonly extension: string
  readonly priority: string
}

/** Nothing that ends an argument of the dialplan. */
export const contextName = "^[A-Za-z0-9_.-]{0,79}$"
export const extensionName = "^(?:[A-Za-z0-9_.*#+-]|\\{number\\}|\\{digits\\}){0,79}$"
export const priorityNumber = "^(?:[1-9][0-9]{0,3})?$"

export const dialplanOf = (context: string, extension: string, priority: string): Dialplan | undefined =>
  context === "" ? undefined : { context, extension: extension || "s", priority: priority || "1" }

/** The extension for a number. */
export const filled = (text: string, number: string): string =>
  text.replaceAll("{number}", number).replaceAll("{digits}", number.replace("+", ""))

/** Of the originate: how the call enters our application, and what the dialplan needs to bring it back. */
export const appArgsOf = ({ context, extension, priority }: Dialplan, callId: string, number: string): string =>
  ["dialplan", callId, context, filled(extension, number), priority].join(",")
export const variablesOf = (application: string, callId: string): Readonly<Record<string, string>> => ({
  TRUNKLINE_APP: application,
  TRUNKLINE_CALL: callId
})

/** From the arguments of a `StasisStart`: where the call is to continue; undefined for one that is ours. */
export const placeIn = ([kind, , context, extension, priority]: ReadonlyArray<string>): Dialplan | undefined =>
  kind === "dialplan" && context !== undefined && extension !== undefined && priority !== undefined
    ? { context, extension, priority }
    : undefined

/** What AMD() leaves behind: noted as it is set, because the dialplan may end the call then. */
export const noted: ReadonlySet<string> = new Set(["AMDSTATUS", "AMDCAUSE"])
const MOST_FOUND = 16
const LONGEST_VALUE = 256
export const plain = (value: string): string => value.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, LONGEST_VALUE)

/** From the arguments of the `StasisStart` by which the dialplan hands a call over: those of the form `NAME=value`. */
export const foundIn = (args: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    args.slice(0, MOST_FOUND + 2).flatMap((arg) => {
      const [, name, value = ""] = /^([A-Z][A-Z0-9_]{0,63})=(.*)$/s.exec(arg) ?? []
      return name === undefined || value === "" ? [] : [[name, plain(value)] as const]
    })
  )
