/**
 * What an originate carries for the dialplan, billing and the far end: channel variables from the contact's columns, an account code, SIP
 * headers. Only what the configuration names is sent, and a contact supplies only values: it cannot name a variable, call a dialplan function, or
 * begin another header.
 */

export interface OriginateExtras {
  readonly accountCode: string
  readonly callerName: string
  /** Columns; each one becomes the channel variable of that name. */
  readonly channelVariables: ReadonlyArray<string>
  /** Lines of the form `Name: value`, in which `{column}` is replaced by the contact's value. */
  readonly sipHeaders: ReadonlyArray<string>
}

/** Lower case only: every name with a meaning in Asterisk, including functions, is upper case. */
export const variableName = "^[a-z][a-z0-9_]{0,63}$"
/** Excludes headers that SIP itself, or a provider's trust, depends on. */
export const sipHeader = "^X-[A-Za-z0-9-]{1,40}: [ -~]{1,200}$"
export const accountCode = "^[A-Za-z0-9_.-]{0,40}$"
/** Excludes whatever would end a quoted name. */
export const callerName = '^[^"<>\\\\\\u0000-\\u001f\\u007f]{0,64}$'

export const mostVariables = 24
export const mostHeaders = 8
/** The limit of one value, in characters of up to four bytes. All of them together stay below the 40 KB that Asterisk accepts. */
const longestValue = 256
type Context = Readonly<Record<string, unknown>>

/** The value in one line, whatever the contact's cell holds. */
const cellOf = (context: Context, column: string): string | undefined => {
  const value = Object.hasOwn(context, column) ? context[column] : undefined
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined
  return oneLine(String(value))
}
const oneLine = (text: string): string =>
  Array.from(text.replace(/[\p{Cc}\u2028\u2029]+/gu, " "))
    .slice(0, longestValue)
    .join("")

/** Undefined if there is nothing to carry. */
export const variablesOf = (
  { accountCode, channelVariables, sipHeaders }: OriginateExtras,
  context: Context
): Readonly<Record<string, string>> | undefined => {
  const variables: Record<string, string> = {}
  for (const name of channelVariables) {
    const value = cellOf(context, name)
    if (value !== undefined) variables[name] = value
  }
  if (accountCode !== "") variables["CHANNEL(accountcode)"] = accountCode
  for (const header of sipHeaders) {
    const at = header.indexOf(": ")
    const filled = header.slice(at + 2).replace(/\{([^{}]*)\}/g, (_, column: string) => cellOf(context, column) ?? "")
    variables[`PJSIP_HEADER(add,${header.slice(0, at)})`] = oneLine(filled)
  }
  return Object.keys(variables).length === 0 ? undefined : variables
}

/** The caller ID that the callee sees: the number alone, or with a name. */
export const callerIdOf = ({ callerName }: OriginateExtras, from: string): string =>
  callerName === "" ? from : `"${callerName}" <${from}>`
