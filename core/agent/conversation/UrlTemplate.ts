/**
 * The URL of a tool, with the call's values in it. Stricter than other templates, because values come from contacts and from models: each is
 * percent-encoded, and none may be missing or change where the request goes. The egress policy decides whether the engine may connect there.
 */
import type { JsonObject } from "#core/Json.ts"
import { fallback, placeholder, valueAt } from "#core/agent/Template.ts"

type RenderedUrl = { readonly url: string } | { readonly error: string }

const longestUrl = 8192

export const renderUrl = (template: string, context: JsonObject): RenderedUrl => {
  const text = template.trim()
  if (text.length > longestUrl) return { error: "The URL is too long" }
  // A value in place of the scheme or after a bare host name could lead anywhere.
  if (!/^https?:\/\/[^/?#\s]/i.test(text)) return { error: "The URL must begin with http:// or https:// and a host" }
  if (isHostOpen(text)) return { error: "A value in the host's name must be followed by the rest of the name" }
  if (/[{}]/.test(text.replaceAll(placeholder, ""))) return { error: "The URL has an unbalanced brace" }
  const faults: Array<string> = []
  const url = text.replaceAll(placeholder, (_, path: string, filter: string | undefined) => {
    const value = textFor(valueAt(context, path), path, filter)
    if (value === undefined) faults.push(path)
    return value ?? ""
  })
  if (faults.length > 0) return { error: `The URL needs a value for ${faults.slice(0, 5).join(", ")}` }
  if (url.length > longestUrl) return { error: "The URL is too long" }
  return URL.canParse(url) && new URL(url).host !== "" ? { url } : { error: "The URL is not valid" }
}

/** Whether a value could extend the host's name, or choose the port: `https://api.example{{path}}` may lead to `api.example.evil.example`. */
const isHostOpen = (text: string): boolean => {
  const [authority = ""] = text
    .replaceAll(placeholder, "{}")
    .replace(/^https?:\/\//i, "")
    .split(/[/?#\\]/)
  return authority.includes("{}") && !/\{\}\.[^{}.:@]+(?:\.[^{}.:@]+)*\.?(?::\d+)?$/.test(authority)
}

/** Undefined: the value cannot be used in a URL. Dots alone would climb out of the path. */
const textFor = (value: unknown, path: string, filter: string | undefined): string | undefined => {
  const given = value === undefined || value === null || value === "" ? (filter === undefined ? "" : fallback(path, filter.trim())) : value
  if (typeof given === "object" || String(given) === "" || /^\.+$/.test(String(given))) return undefined
  return String(given).isWellFormed() ? encodeURIComponent(String(given)) : undefined
}
