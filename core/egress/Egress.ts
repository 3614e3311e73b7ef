/**
 * What the engine may connect to on behalf of an organization, and how much of its thread what comes back may take. This is a port, because only
 * the runtime knows the settings and this machine's addresses, and resolves names. All code that connects to an address chosen by a client must ask
 * here and pass `lookup` to its socket, so that the socket connects to the very address that was checked.
 */
import { Context, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"

/** The `lookup` option of a socket, as `node:net` and the modules built on it accept it. */
export type Lookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  done: (error: Error | null, address: string | Array<{ address: string; family: number }>, family?: number) => void
) => void

/** A socket, as far as `node:stream` lets others regulate what it receives. */
export interface Incoming {
  push(bytes: unknown): boolean
  _read(size: number): void
  once(event: "close", closed: () => void): unknown
}

/** `audio`: one call's audio as it is spoken, which is handled at once. What exceeds that is not. */
export type Kind = "audio" | "other"

export interface Egress {
  /** True if nothing may connect to this host and port. False for a name says nothing about its addresses, which `lookup` checks. */
  readonly refuses: (host: string, port: number) => boolean
  /** Resolves a name to those of its addresses that the engine may connect to at this port. Fails with `refusedCode` if none is left. */
  readonly lookup: (port: number) => Lookup
  /** Whether datagrams may be sent to this IP address. */
  readonly maySendTo: (address: string) => boolean
  /**
   * Lets what arrives on a socket take only the organization's share of the thread: the rest waits in the socket, in order, and finally at the
   * sender. Call it for each socket before anything arrives; calling it again changes nothing. If omitted, nothing is held back.
   */
  readonly pace?: (socket: Incoming, kind?: Kind) => void
}

/** The `code` of the error of a `lookup` that finds no address that the engine may connect to. */
export const refusedCode = "egress_refused"
/** The error text. It is the same whether the port is open or closed, and reveals nothing, because no connection was attempted. */
export const refusedWords = "there is no address here that this engine may connect to"

export interface EgressPolicies {
  /** The policy for webhooks, for fetches before calls, and for the requests of tools. */
  readonly webhooks: Egress
  /** The policy for an organization's providers and its speech and language services. The first organization owns the installation, and may have its PBX beside the engine. */
  readonly trunksOf: (organizationId: OrganizationId) => Effect.Effect<Egress>
}

const closed: Egress = {
  refuses: () => true,
  lookup: () => (_, __, done) => done(Object.assign(new Error(refusedWords), { code: refusedCode }), []),
  maySendTo: () => false
}

/** Refuses everything unless a policy is provided. */
export const EgressPolicy = Context.Reference<EgressPolicies>("core/egress/EgressPolicy", {
  defaultValue: () => ({ webhooks: closed, trunksOf: () => Effect.succeed(closed) })
})

/** The host of a URL. An IPv6 address comes without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1")

const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 }

/** The port that a socket for this URL connects to. */
export const portOf = (url: URL): number => (url.port === "" ? (usualPorts[url.protocol] ?? 0) : Number(url.port))

export const refusesUrl = (egress: Egress, url: URL): boolean => egress.refuses(hostOf(url), portOf(url))
