/**
 * Values that can be written in several ways, brought into the one way in which they are stored, shown and compared. Each way is its own normal
 * form, and so is a masked secret.
 */

/** By name, so that the fields of a provider stay plain data. */
export type Normal =
  /** Without white space around it. */
  | "trimmed"
  /** Visible ASCII only: anything else comes from pasting, and could not be sent in a header. */
  | "token"
  /** A URL without the slashes at its end; words may follow it. */
  | "address"
  /** A key in PEM, with real line breaks and without white space around it. */
  | "pem"
  /** A host name in lower case, without the scheme and the path of a URL; to a name without a dot, this domain is added. */
  | { readonly domain: string }

/** What else there is besides these names is a domain. */
export const normalNames = ["trimmed", "token", "address", "pem"] as const satisfies ReadonlyArray<Exclude<Normal, object>>

/** An adapter from a package may be plain JavaScript, in which no compiler has checked it. */
export const isNormal = (form: unknown): form is Normal =>
  typeof form === "object" && form !== null
    ? "domain" in form && typeof form.domain === "string"
    : normalNames.some((name) => name === form)

export const normalOf = (normal: Normal, text: string): string => {
  if (typeof normal === "object") return domainOf(text, normal.domain)
  return byName[normal](text)
}

const byName: { readonly [Name in Exclude<Normal, object>]: (text: string) => string } = {
  trimmed: (text) => text.trim(),
  token: (text) => text.replace(/[^!-~]/g, ""),
  address: (text) => {
    const [url = "", ...words] = text.trim().split(/\s+/)
    return [withoutEnd(url, "/"), ...words].join(" ")
  },
  pem: (text) => text.replaceAll("\\n", "\n").replaceAll("\r", "").trim()
}

const domainOf = (text: string, domain: string): string => {
  const [host = ""] = text
    .trim()
    .replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "")
    .split(/[/?#]/, 1)
  const name = withoutEnd(host.toLowerCase(), ".")
  return name === "" || name.includes(".") ? name : `${name}.${domain}`
}

/** Not by a regular expression, which would restart at each of a long run of such characters. */
const withoutEnd = (text: string, character: string): string => {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}
