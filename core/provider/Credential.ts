/**
 * The fields of a provider's configuration, as plain data. They determine the type that an adapter's `connect` gets, the validation of what a
 * client sends, what the metadata endpoint lists, and what is masked when read back.
 */
import { type Normal, normalOf } from "./Normal.ts"

export interface CredentialField {
  readonly label: string
  readonly type: "text" | "password" | "textarea" | "boolean" | "string-array"
  readonly description: string
  readonly placeholder: string
  readonly required: boolean
  readonly sensitive: boolean
  /** The value of an optional field that is omitted. */
  readonly default?: string
  /** The field holds the provider's address: a URL, a host with or without a port, or a list of them. With a new address, secrets must be sent unmasked. */
  readonly isAddress?: boolean
  /** A regular expression that the text, or each item of a list, must match. */
  readonly pattern?: string
  /** The only accepted values. */
  readonly choices?: ReadonlyArray<string>
  /** The maximum number of items in a list. */
  readonly most?: number
  /** The engine writes the field itself, see `Adapter.prepare`. Clients can read it, and may only send back what they have read. */
  readonly isManaged?: boolean
  /** For a managed field: the field that it replaces when that one is empty. */
  readonly standsFor?: string
  /** The normal form in which the text, or each item of a list, is stored and shown. */
  readonly normal?: Normal
}
export type CredentialFields = Readonly<Record<string, CredentialField>>

type ValueOf<Field extends CredentialField> = Field["type"] extends "boolean"
  ? boolean
  : Field["type"] extends "string-array"
    ? ReadonlyArray<string>
    : string
/** Every field has a value: an omitted optional field holds its default, or else `""`, `false` or `[]`. */
export type ConfigOf<Fields extends CredentialFields> = { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }

/** The value of an optional field that was omitted, or did not exist when the configuration was stored. */
export const absent = (field: CredentialField): string | boolean | ReadonlyArray<string> =>
  field.type === "boolean" ? false : field.type === "string-array" ? [] : (field.default ?? "")

/** Fills in missing fields and normalizes the others. The normal form may be newer than the stored configuration. */
export const complete = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries([
    ...Object.entries(config),
    ...Object.entries(fields).map(([name, field]) => [name, normalized(field, config[name] ?? absent(field))])
  ])

/** The configuration as calls use it: complete, with empty fields replaced by what the engine has created for them. */
export const effective = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const whole = complete(fields, config)
  const standIns = unset(fields, whole).map(([name, standsFor]) => [standsFor, whole[name]])
  return { ...whole, ...Object.fromEntries(standIns) }
}

/** The managed fields that replace an empty field, each with the name of that field. */
const unset = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, string]> =>
  Object.entries(fields).flatMap(([name, { standsFor }]) =>
    standsFor !== undefined && isEmpty(config[standsFor]) ? [[name, standsFor] as const] : []
  )

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ""

/** Whether the engine must create something because the configuration does not name it, and whether it has done so (`made`). */
export const preparation = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): "unneeded" | "missing" | "made" => {
  const wanted = unset(fields, config)
  if (wanted.length === 0) return "unneeded"
  return wanted.some(([name]) => isEmpty(config[name])) ? "missing" : "made"
}

/** What a client sent, with the managed fields as they are stored; or the name of a managed field that the client would change. */
export const withManaged = (
  fields: CredentialFields,
  given: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> | string => {
  const managed = Object.keys(fields).filter((name) => fields[name]?.isManaged === true)
  const changed = managed.find((name) => !isEmpty(given[name]) && given[name] !== stored[name])
  return changed ?? { ...given, ...Object.fromEntries(managed.map((name) => [name, stored[name] ?? ""])) }
}

const normalized = ({ normal }: CredentialField, value: unknown): unknown => {
  if (normal === undefined) return value
  const item = (one: unknown) => (typeof one === "string" ? normalOf(normal, one) : one)
  return Array.isArray(value) ? value.map(item) : item(value)
}

/** The properties of a field. They override the defaults of its kind. */
interface Words extends Partial<Omit<CredentialField, "type" | "isAddress" | "isManaged" | "standsFor">> {
  readonly label: string
}
type Field<Type> = Omit<CredentialField, "type"> & { readonly type: Type }
const field = <Type extends CredentialField["type"]>(type: Type, words: Words): Field<Type> => ({
  type,
  required: true,
  sensitive: false,
  description: "",
  placeholder: "",
  ...words
})

export const text = (words: Words) => field("text", words)
/** A name or key that the provider has issued. */
export const identifier = (words: Words) => text({ normal: "token", ...words })
export const optionalText = (words: Words) => text({ required: false, default: "", ...words })
export const address = (words: Words) => ({ ...text({ normal: "address", ...words }), isAddress: true })
export const secret = (words: Words) => field("password", { sensitive: true, ...words })
/** Holds what the engine has created at the provider for a configuration that does not name it. */
export const managed = (standsFor: string, words: Words) => ({ ...text({ required: false, ...words }), isManaged: true, standsFor })
/** A secret that the provider has issued, and that nobody types. */
export const token = (words: Words) => secret({ normal: "token", ...words })
/** A private key, pasted from its file. */
export const privateKey = (words: Words) => field("textarea", { sensitive: true, normal: "pem", ...words })
/** A public key, possibly of several lines. */
export const publicKey = (words: Words) => field("textarea", { normal: "trimmed", ...words })
export const optionalBoolean = (words: Words) => field("boolean", { required: false, ...words })
export const optionalList = (words: Words) => field("string-array", { required: false, ...words })

/** The account's numbers that callees may be shown. */
export const callerIds = optionalList({
  label: "Phone Numbers",
  description: "Caller IDs to show, in E.164 format",
  placeholder: "+15550100"
})

/** A list of addresses, each optionally followed by a space and words that only the adapter interprets. */
export const optionalAddresses = (words: Words) => ({ ...optionalList({ normal: "address", ...words }), isAddress: true })

/** Replaces all but the last four characters by `*`, or all if there are at most four. */
export const mask = (value: string): string =>
  value.length <= 4 ? "*".repeat(value.length) : "*".repeat(value.length - 4) + value.slice(-4)

/** The pattern that a value sent for the field must match. For a secret, it also allows the mask. */
export const patternOf = ({ pattern, sensitive }: CredentialField): string | undefined =>
  pattern === undefined || !sensitive ? pattern : `(?:${pattern})|(?:^\\*+.{0,4}$)`

/** The name of a secret that does not match its own pattern, and so must be the mask of another one. */
export const maskedSecret = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(fields).find(([name, { pattern, sensitive }]) => {
    const value = config[name]
    return sensitive && pattern !== undefined && typeof value === "string" && value !== "" && !new RegExp(pattern).test(value)
  })?.[0]

/** The configuration as a client may read it. */
export const masked = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const value = normalized(field, config[name] ?? absent(field))
      return [name, field.sensitive && typeof value === "string" ? mask(value) : value]
    })
  )

/** What a client sent, with secrets that equal their mask from `masked` replaced by the stored ones. */
export const unmasked = (
  fields: CredentialFields,
  given: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> => {
  const shown = masked(fields, stored)
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      fields[name]?.sensitive === true && value === shown[name] && name in stored ? stored[name] : value
    ])
  )
}

/** The name of a secret that was sent as its mask together with a new address, to which the stored secret would then be sent. */
export const strayingSecret = (
  fields: CredentialFields,
  given: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>
): string | undefined => {
  const addresses = Object.entries(fields).filter(([, { isAddress }]) => isAddress === true)
  const known = new Set(addresses.flatMap(([name]) => addressesOf(stored[name]).map(placeOf)))
  const isElsewhere = addresses.some(([name, { type }]) =>
    // Removing an address from a list sends nothing to a new host.
    type === "string-array"
      ? addressesOf(given[name]).some((address) => !known.has(placeOf(address)))
      : placeOf(given[name]) !== placeOf(stored[name])
  )
  if (!isElsewhere) return undefined
  const kept = unmasked(fields, given, stored)
  return Object.keys(fields).find((name) => fields[name]?.sensitive === true && kept[name] !== given[name])
}

const placeOf = (value: unknown) => {
  const url = addressIn(value)
  return url === undefined ? value : `${url.protocol}//${url.host}`
}

/** The addresses in a field, without the words that may follow each one in a list. */
export const addressesOf = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value.map((item: unknown) => (typeof item === "string" ? item.trim().split(/\s/, 1)[0] : item))
  return value === undefined || value === null ? [] : [value]
}

/** The address in a field as a URL. Undefined if it is not an address. */
export const addressIn = (value: unknown): URL | undefined => {
  if (typeof value !== "string" || value.trim() === "") return undefined
  const text = value.trim()
  return (text.includes("://") ? URL.parse(text) : URL.parse(`https://${text}`)) ?? undefined
}

/** The names of the address fields, with their URLs. */
export const addressesIn = (
  fields: CredentialFields,
  config: Readonly<Record<string, unknown>>
): ReadonlyArray<readonly [field: string, url: URL]> =>
  Object.entries(fields).flatMap(([name, field]) => {
    const urls = field.isAddress === true ? addressesOf(config[name]).map(addressIn) : []
    return urls.flatMap((url) => (url === undefined ? [] : [[name, url] as const]))
  })
