/**
 * The hosts that a credential may be sent to. An administrator who saves an agent or a tool puts the hosts that it names on the list; nobody
 * else can have a credential sent anywhere new. `crm.example.com` means https at port 443; any other port stands behind a colon.
 */
import { Schema } from "effect"
import { isObject, type JsonObject } from "#core/Json.ts"

/** What an organization has an endpoint or two of, not a list of the internet. */
export const mostHosts = 100

export class CredentialHostInvalid extends Schema.TaggedError<CredentialHostInvalid>()("CredentialHostInvalid", {
  host: Schema.String
}) {}
/** A tool would send its credential to a host that is not on the credential's list, and is not added to it. */
export class CredentialHostRefused extends Schema.TaggedError<CredentialHostRefused>()("CredentialHostRefused", {
  reason: Schema.String,
  path: Schema.Array(Schema.String)
}) {}

export const hostRefusedMessage = (host: string): string =>
  `The credential may not be sent to ${host}: an administrator has to add this host to the credential's allowed_hosts`
export const hostsFullMessage = (name: string, host: string): string =>
  `The credential '${name}' may not be sent to ${host}: its allowed_hosts would be more than ${mostHosts}; take others off the list first`

const entryOf = ({ hostname, port, protocol }: URL): string => {
  if (port !== "") return `${hostname}:${port}`
  return protocol === "https:" ? hostname : `${hostname}:80`
}

/** As it stands on a list; undefined for what is no http or https address. */
const hostOfUrl = (text: string): string | undefined => {
  const url = URL.parse(text.trim())
  return url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "" ? undefined : entryOf(url)
}

/** What somebody has put on a list, in the one way of writing it; undefined for what is no host. */
export const readHost = (text: string): string | undefined => {
  // A wildcard would be taken for a host of that name.
  const url = /[/\\?#@*\s]/.test(text) ? null : URL.parse(`https://${text}`)
  return url === null || url.hostname === "" ? undefined : entryOf(url)
}

/** Lists may have been made by a migration, which knows no other way of writing a host than the one that it found. */
export const mayBeSentTo = (allowedHosts: ReadonlyArray<string>, url: string): boolean => {
  const host = hostOfUrl(url)
  return host !== undefined && allowedHosts.some((allowed) => allowed === host || readHost(allowed) === host)
}

/** A credential that is named beside an address. */
export interface CredentialUse {
  readonly uuid: string
  readonly host: string
  /** From the definition to the address. */
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

/** Whether a node is turned on makes no difference: a member can turn it on. */
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
