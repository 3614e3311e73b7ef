/**
 * Normal forms: values that can be written in several ways are stored, shown and compared in one. Normalizing twice changes nothing, nor does
 * normalizing a masked secret.
 */

/** Forms are chosen by name, so that the fields of a provider remain plain data. */
export type Normal =
  /** Without surrounding white space. */
  | "trimmed"
  /** Visible ASCII only: anything else comes from copying and pasting, and could not be sent in a header. */
  | "token"
  /** A URL without trailing slashes; words may follow it. */
  | "address"
  /** A key in PEM, with real line breaks and without surrounding white space. */
  | "pem"
  /** A host name in lower case, without the scheme and path of a URL. A name without a dot gets this domain appended. */
  | { readonly domain: string }

/** All forms except that of a host name, which is an object with the domain. */
export const normalNames = ["trimmed", "token", "address", "pem"] as const satisfies ReadonlyArray<Exclude<Normal, object>>

/** Checks what an adapter from a package declares, which may be plain JavaScript that no compiler has checked. */
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

/** Removes trailing characters. A regular expression would be quadratic in the length of a long run of them. */
const withoutEnd = (text: string, character: string): string => {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}
