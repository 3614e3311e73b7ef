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
  /** The only texts that are taken. */
  readonly choices?: ReadonlyArray<string>
  /** The maximum number of items in a list. */
  readonly most?: number
  /** The engine writes the field itself, see `Adapter.prepare`: clients read it, and may only send back what they have read. */
  readonly isManaged?: boolean
  /** For a managed field: the field in whose place it is used where that one is empty. */
  readonly standsFor?: string
  /** How the text, or each item of a list, is written when it is stored and shown. */
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

/** Adds the missing fields, and brings the others into their normal form, which may be younger than the stored configuration. */
export const complete = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries([
    ...Object.entries(config),
    ...Object.entries(fields).map(([name, field]) => [name, normalized(field, config[name] ?? absent(field))])
  ])

/** The configuration as calls use it: complete, with what the engine has made in the place of what is empty. */
export const effective = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const whole = complete(fields, config)
  const standIns = unset(fields, whole).map(([name, standsFor]) => [standsFor, whole[name]])
  return { ...whole, ...Object.fromEntries(standIns) }
}

/** The managed fields that stand for an empty one, with its name. */
const unset = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, string]> =>
  Object.entries(fields).flatMap(([name, { standsFor }]) =>
    standsFor !== undefined && isEmpty(config[standsFor]) ? [[name, standsFor] as const] : []
  )

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ""

/** What the engine has to make, because the configuration does not name it: `made` if it has all of that. */
export const preparation = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): "unneeded" | "missing" | "made" => {
  const wanted = unset(fields, config)
  if (wanted.length === 0) return "unneeded"
  return wanted.some(([name]) => isEmpty(config[name])) ? "missing" : "made"
}

/** What a client sent, with the managed fields as they are stored; or the name of one that it would change. */
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

/** What is said of a field; what a kind of field says by itself can be said otherwise. */
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
/** A name or key that the provider has given out. */
export const identifier = (words: Words) => text({ normal: "token", ...words })
export const optionalText = (words: Words) => text({ required: false, default: "", ...words })
export const address = (words: Words) => ({ ...text({ normal: "address", ...words }), isAddress: true })
export const secret = (words: Words) => field("password", { sensitive: true, ...words })
/** What the engine has made at the provider, for a configuration that does not name it. */
export const managed = (standsFor: string, words: Words) => ({ ...text({ required: false, ...words }), isManaged: true, standsFor })
/** A secret that the provider has given out, and that nobody types. */
export const token = (words: Words) => secret({ normal: "token", ...words })
/** A private key, pasted from its file. */
export const privateKey = (words: Words) => field("textarea", { sensitive: true, normal: "pem", ...words })
/** A public key, possibly of several lines. */
export const publicKey = (words: Words) => field("textarea", { normal: "trimmed", ...words })
export const optionalBoolean = (words: Words) => field("boolean", { required: false, ...words })
export const optionalList = (words: Words) => field("string-array", { required: false, ...words })

/** Numbers of the account to show to callees. */
export const callerIds = optionalList({
  label: "Phone Numbers",
  description: "Caller IDs to show, in E.164 format",
  placeholder: "+15550100"
})

/** A list of addresses, each optionally followed by a space and words that only the adapter reads. */
export const optionalAddresses = (words: Words) => ({ ...optionalList({ normal: "address", ...words }), isAddress: true })

/** Replaces all but the last four characters by `*`, or all if there are at most four. */
export const mask = (value: string): string =>
  value.length <= 4 ? "*".repeat(value.length) : "*".repeat(value.length - 4) + value.slice(-4)

/** What a field's pattern allows of a value that is sent: for a secret, its mask as well. */
export const patternOf = ({ pattern, sensitive }: CredentialField): string | undefined =>
  pattern === undefined || !sensitive ? pattern : `(?:${pattern})|(?:^\\*+.{0,4}$)`

/** The name of a secret that breaks its own pattern, and so is the mask of another one. */
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

/** What a client sent, where a secret that equals the mask from `masked` is replaced by the stored one. */
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

/** The name of a secret that was sent as its mask together with a new address: the stored secret would go to whoever listens there. */
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

/** The address in a field as a URL; undefined if it is no address. */
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
