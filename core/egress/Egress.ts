/**
 * What the engine may connect to on behalf of an organization: a port, because only the runtime knows the settings, the addresses of this
 * machine and where names lead. Whatever connects to an address that a client chose asks here, and gives `lookup` to its socket, so that
 * the address that was judged is the one that is connected to.
 */
import { Context, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"

/** The `lookup` of a socket, as `node:net` and all that stands on it takes it. */
export type Lookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  done: (error: Error | null, address: string | Array<{ address: string; family: number }>, family?: number) => void
) => void

export interface Egress {
  /** True: nothing is to be connected to there. False of a name says nothing about its addresses, which `lookup` judges. */
  readonly refuses: (host: string, port: number) => boolean
  /** Gives the addresses of a name that may be connected to at this port; without any it fails with `refusedCode`. */
  readonly lookup: (port: number) => Lookup
  /** Whether datagrams may be sent to this IP address. */
  readonly maySendTo: (address: string) => boolean
}

/** The `code` of the error of a `lookup` that finds nothing to connect to. */
export const refusedCode = "egress_refused"
/** The same for an open port, a closed one, and none: nothing was connected to. */
export const refusedWords = "there is no address here that this engine may connect to"

export interface EgressPolicies {
  /** For webhooks and fetches. */
  readonly webhooks: Egress
  /** For the providers of an organization: the first one owns the installation, and may have its PBX beside the engine. */
  readonly trunksOf: (organizationId: OrganizationId) => Effect.Effect<Egress>
}

const closed: Egress = {
  refuses: () => true,
  lookup: () => (_, __, done) => done(Object.assign(new Error(refusedWords), { code: refusedCode }), []),
  maySendTo: () => false
}

/** Nothing, unless somebody says otherwise. */
export const EgressPolicy = Context.Reference<EgressPolicies>("core/egress/EgressPolicy", {
  defaultValue: () => ({ webhooks: closed, trunksOf: () => Effect.succeed(closed) })
})

/** The host of a URL, an IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1")

const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 }

/** Where a socket to this URL connects to. */
export const portOf = (url: URL): number => (url.port === "" ? (usualPorts[url.protocol] ?? 0) : Number(url.port))

export const refusesUrl = (egress: Egress, url: URL): boolean => egress.refuses(hostOf(url), portOf(url))
