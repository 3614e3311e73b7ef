/**
 * The hosts that a credential may be sent to. When an administrator saves an agent or a tool, the hosts that it names join the list; nobody
 * else can have a credential sent to a new host. `crm.example.com` means HTTPS at port 443; any other port follows a colon.
 */
import { Schema } from "effect"
import { isObject, type JsonObject } from "#core/Json.ts"

/** Enough for an organization's own endpoints. */
export const mostHosts = 100

export class CredentialHostInvalid extends Schema.TaggedError<CredentialHostInvalid>()("CredentialHostInvalid", {
  host: Schema.String
}) {}
/** A tool would send its credential to a host that is not on the credential's list and cannot join it. */
export class CredentialHostRefused extends Schema.TaggedError<CredentialHostRefused>()("CredentialHostRefused", {
  reason: Schema.String,
  path: Schema.Array(Schema.String)
}) {}

export const hostRefusedMessage = (host: string): string =>
  `The credential may not be sent to ${host}: an administrator must add this host to the credential's allowed_hosts`
export const hostsFullMessage = (name: string, host: string): string =>
  `The credential '${name}' may not be sent to ${host}: its allowed_hosts would exceed ${mostHosts} entries; remove others first`

const entryOf = ({ hostname, port, protocol }: URL): string => {
  if (port !== "") return `${hostname}:${port}`
  return protocol === "https:" ? hostname : `${hostname}:80`
}

/** The entry that a list has for this URL; undefined if it is not HTTP or HTTPS. */
const hostOfUrl = (text: string): string | undefined => {
  const url = URL.parse(text.trim())
  return url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "" ? undefined : entryOf(url)
}

/** Normalizes an entry that somebody put on a list; undefined if it is no host. */
export const readHost = (text: string): string | undefined => {
  // A wildcard would be read as a host of that name.
  const url = /[/\\?#@*\s]/.test(text) ? null : URL.parse(`https://${text}`)
  return url === null || url.hostname === "" ? undefined : entryOf(url)
}

/** Entries are normalized before they are compared, because those written by a migration may not be. */
export const mayBeSentTo = (allowedHosts: ReadonlyArray<string>, url: string): boolean => {
  const host = hostOfUrl(url)
  return host !== undefined && allowedHosts.some((allowed) => allowed === host || readHost(allowed) === host)
}

/** A credential that is named next to a URL. */
export interface CredentialUse {
  readonly uuid: string
  readonly host: string
  /** The path from the definition to the URL. */
  readonly path: ReadonlyArray<string | number>
}

const useOf = (part: unknown, names: readonly [uuid: string, url: string], path: CredentialUse["path"]): ReadonlyArray<CredentialUse> => {
  if (!isObject(part)) return []
  const [uuid, url] = [part[names[0]], part[names[1]]]
  const host = typeof url === "string" ? hostOfUrl(url) : undefined
  if (typeof uuid !== "string" || host === undefined) return []
  return [{ uuid: uuid.trim().toLowerCase(), host, path: [...path, names[1]] }]
}

const inNode = ["credential_uuid", "endpoint_url"] as const
const inFetch = ["pre_call_fetch_credential_uuid", "pre_call_fetch_url"] as const
const inTool = ["credential_uuid", "url"] as const

/** Includes nodes that are turned off, because a member can turn them on. */
export const usesInAgent = (definition: JsonObject): ReadonlyArray<CredentialUse> => {
  const nodes: ReadonlyArray<unknown> = Array.isArray(definition["nodes"]) ? definition["nodes"] : []
  return nodes.flatMap((node, index) => {
    const data = isObject(node) ? node["data"] : undefined
    return [...useOf(data, inNode, ["nodes", index, "data"]), ...useOf(data, inFetch, ["nodes", index, "data"])]
  })
}

export const usesInTool = ({ config }: { readonly config?: JsonObject }): ReadonlyArray<CredentialUse> => [
  ...useOf(config, inTool, ["config"]),
  ...useOf(config?.["resolver"], inTool, ["config", "resolver"])
]
