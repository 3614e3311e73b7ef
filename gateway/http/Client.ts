/**
 * The network address of a client. It is the socket's address, unless that belongs to a proxy that the operator trusts: then it is the last
 * address in `X-Forwarded-For` that does not belong to such a proxy. Earlier addresses in that header may be forged by the client.
 */
import { BlockList } from "node:net"
import { canonicalAddress, familyOf } from "#core/egress/IpAddress.ts"
import type { Network } from "#core/egress/Network.ts"

/** Both are computed on first use, which must be before the answer has been written. */
export interface Client {
  /** In canonical form; empty if unknown. */
  readonly address: string
  /** The request comes from this machine, without a proxy in between, and not from a page of another site. */
  readonly isLocal: boolean
}

/** What the headers say about the route of a request through proxies, copied out of the server's memory. */
export interface Way {
  /** The lines of `X-Forwarded-For`, in order, separated by commas. */
  readonly forwardedFor: string
  /** Whether any header reveals a proxy. */
  readonly isForwarded: boolean
  /** The origin of the page that sends the request; empty outside a browser. */
  readonly origin: string
}

/** Proxies whose `X-Forwarded-For` is trusted. */
export interface Proxies {
  readonly isEmpty: boolean
  readonly has: (address: string) => boolean
}

export const proxiesOf = (networks: ReadonlyArray<Network>): Proxies => {
  const list = new BlockList()
  for (const { address, bits, family } of networks) list.addSubnet(address, bits, family)
  return { isEmpty: networks.length === 0, has: (address) => list.check(address, familyOf(address)) }
}

const withPort = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:]*):\d{1,5})$/
/** Some proxies add the port. */
const readForwarded = (text: string): string | undefined => {
  const [, v6, v4] = withPort.exec(text) ?? []
  return canonicalAddress(v6 ?? v4 ?? text)
}

export const addressOf = (proxies: Proxies, remote: string, forwardedFor: string): string => {
  let address = remote
  const named = forwardedFor === "" ? [] : forwardedFor.split(",")
  while (proxies.has(address)) {
    const before = named.pop()
    const known = before === undefined ? undefined : readForwarded(before.trim())
    if (known === undefined) break
    address = known
  }
  return address
}

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")
const isLoopback = (address: string): boolean => loopback.check(address, familyOf(address))

const isLocalSite = (origin: string): boolean => {
  const host = URL.parse(origin)?.hostname
  return host !== undefined && (host === "localhost" || isLoopback(host.replace(/^\[|\]$/g, "")))
}

/** A trusted proxy on this machine may pass on requests from anywhere, even without saying so. */
export const isLocalTo = (proxies: Proxies, remote: string, { isForwarded, origin }: Way): boolean =>
  isLoopback(remote) && !isForwarded && !proxies.has(remote) && (origin === "" || isLocalSite(origin))

/** `remote`: the socket's address, empty once the socket is gone. */
export class RequestClient implements Client {
  private known: string | undefined
  private readonly proxies: Proxies
  private readonly way: Way
  private readonly remote: () => string

  constructor(proxies: Proxies, way: Way, remote: () => string) {
    this.proxies = proxies
    this.way = way
    this.remote = remote
  }

  private get socket(): string {
    return (this.known ??= canonicalAddress(this.remote()) ?? "")
  }

  get address(): string {
    return this.socket === "" ? "" : addressOf(this.proxies, this.socket, this.way.forwardedFor)
  }

  get isLocal(): boolean {
    return this.socket !== "" && isLocalTo(this.proxies, this.socket, this.way)
  }
}
