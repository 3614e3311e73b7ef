/**
 * The fields of a provider's configuration, as plain data. From them follow the type that an adapter's `connect` gets, the check of what
 * a client sends, what the metadata endpoint lists, and what is masked when read back.
 */
export interface CredentialField {
  readonly label: string
  readonly type: "text" | "password" | "textarea" | "boolean" | "string-array"
  readonly description: string
  readonly placeholder: string
  readonly required: boolean
  readonly sensitive: boolean
  /** What an optional field holds when it was left out. */
  readonly default?: string
  /** Where the provider is: a URL, or a host with or without its port, or a list of them. Secrets that are shown masked stay with it. */
  readonly isAddress?: boolean
  /** A regular expression that the text, or each item of a list, matches. */
  readonly pattern?: string
  /** How many items a list may have. */
  readonly most?: number
}
export type CredentialFields = Readonly<Record<string, CredentialField>>

type ValueOf<Field extends CredentialField> = Field["type"] extends "boolean"
  ? boolean
  : Field["type"] extends "string-array"
    ? ReadonlyArray<string>
    : string
/** Every field is there: an optional one that was left out holds its default, or else `""`, `false` or `[]`. */
export type ConfigOf<Fields extends CredentialFields> = { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }

/** What an optional field holds that was left out, or that is younger than the configuration. */
export const absent = (field: CredentialField): string | boolean | ReadonlyArray<string> =>
  field.type === "boolean" ? false : field.type === "string-array" ? [] : (field.default ?? "")

/** Every field is there. */
export const complete = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...Object.entries(config), ...Object.entries(fields).map(([name, field]) => [name, config[name] ?? absent(field)])])

interface Words {
  readonly label: string
  readonly description?: string
  readonly placeholder?: string
}
const field = <Type extends CredentialField["type"], Required extends boolean>(
  type: Type,
  required: Required,
  sensitive: boolean,
  words: Words
) => ({
  type,
  required,
  sensitive,
  label: words.label,
  description: words.description ?? "",
  placeholder: words.placeholder ?? ""
})

export const text = (words: Words) => field("text", true, false, words)
export const optionalText = (words: Words & { readonly default?: string; readonly pattern?: string }) => ({
  ...field("text", false, false, words),
  default: words.default ?? "",
  ...(words.pattern === undefined ? {} : { pattern: words.pattern })
})
export const address = (words: Words) => ({ ...field("text", true, false, words), isAddress: true })
export const secret = (words: Words) => field("password", true, true, words)
export const optionalBoolean = (words: Words) => field("boolean", false, false, words)
export const optionalList = (words: Words & { readonly pattern?: string; readonly most?: number }) => ({
  ...field("string-array", false, false, words),
  ...(words.pattern === undefined ? {} : { pattern: words.pattern }),
  ...(words.most === undefined ? {} : { most: words.most })
})

/** Addresses, each with words of the adapter's own behind a blank. */
export const optionalAddresses = (words: Parameters<typeof optionalList>[0]) => ({ ...optionalList(words), isAddress: true })

/** All but the last four characters become `*`; four or fewer, all. */
export const mask = (value: string): string =>
  value.length <= 4 ? "*".repeat(value.length) : "*".repeat(value.length - 4) + value.slice(-4)

/** The configuration as a client may read it. */
export const masked = (fields: CredentialFields, config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const value = config[name] ?? absent(field)
      return [name, field.sensitive && typeof value === "string" ? mask(value) : value]
    })
  )

/** What a client sent back: a secret that is still as `masked` has shown it is the stored one. */
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

/** A secret that came back as its mask although an address is another one: it would go to whoever listens there. */
export const strayingSecret = (
  fields: CredentialFields,
  given: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>
): string | undefined => {
  const addresses = Object.entries(fields).filter(([, { isAddress }]) => isAddress === true)
  const known = new Set(addresses.flatMap(([name]) => addressesOf(stored[name]).map(placeOf)))
  const isElsewhere = addresses.some(([name, { type }]) =>
    // To leave one of a list out sends nothing to anybody new.
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

/** What a field holds, without the words behind each address of a list. */
export const addressesOf = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value.map((item: unknown) => (typeof item === "string" ? item.trim().split(/\s/, 1)[0] : item))
  return value === undefined || value === null ? [] : [value]
}

/** Where a field leads to; undefined for what is no address. */
export const addressIn = (value: unknown): URL | undefined => {
  if (typeof value !== "string" || value.trim() === "") return undefined
  const text = value.trim()
  return (text.includes("://") ? URL.parse(text) : URL.parse(`https://${text}`)) ?? undefined
}

/** The names of the fields that are addresses, and where they lead to. */
export const addressesIn = (
  fields: CredentialFields,
  config: Readonly<Record<string, unknown>>
): ReadonlyArray<readonly [field: string, url: URL]> =>
  Object.entries(fields).flatMap(([name, field]) => {
    const urls = field.isAddress === true ? addressesOf(config[name]).map(addressIn) : []
    return urls.flatMap((url) => (url === undefined ? [] : [[name, url] as const]))
  })
