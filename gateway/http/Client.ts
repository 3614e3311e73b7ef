/**
 * The network address of a client. It is the socket's address, unless that belongs to a proxy that the operator trusts: then it is the last
 * address in `X-Forwarded-For` that does not belong to such a proxy. Earlier addresses in that header may be forged by the client.
 */
import { BlockList } from "node:net"
import { canonicalAddress, familyOf } from "#core/egress/IpAddress.ts"
import type { Network } from "#core/egress/Network.ts"

/**
 * No permission depends on it: behind a proxy on this machine, every client may seem to be local, and no header proves that there is none.
 */
export interface Client {
  /** In canonical form; empty if unknown. Computed on first use, which must be before the answer has been written. */
  readonly address: string
  /** Another engine has passed its request on. */
  readonly isPassedOn?: boolean
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

/**
 * `forwardedFor`: the lines of `X-Forwarded-For`, in order, separated by commas. `remote`: the socket's address, empty once the socket is gone.
 */
export class RequestClient implements Client {
  private known: string | undefined
  private readonly proxies: Proxies
  private readonly forwardedFor: string
  private readonly remote: () => string

  constructor(proxies: Proxies, forwardedFor: string, remote: () => string) {
    this.proxies = proxies
    this.forwardedFor = forwardedFor
    this.remote = remote
  }

  private get socket(): string {
    return (this.known ??= canonicalAddress(this.remote()) ?? "")
  }

  get address(): string {
    return this.socket === "" ? "" : addressOf(this.proxies, this.socket, this.forwardedFor)
  }
}
