/** Resolves host names to addresses. */
import { Context } from "effect"
import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns"
import { Resolver as DnsResolver } from "node:dns/promises"

export type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: Array<LookupAddress>) => void
) => void

const lookupMillis = 2000
const lookupTries = 2
const isLocalhost = /(^|\.)localhost\.?$/i

/**
 * Asks the name servers directly. `lookup` would occupy one of the process's few threads, and the query for a name chosen by an organization may
 * never be answered.
 */
const askNameServers: Resolve = (name, _, done) => {
  if (isLocalhost.test(name)) {
    done(null, [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 }
    ])
    return
  }
  const dns = new DnsResolver({ timeout: lookupMillis, tries: lookupTries })
  const found = Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
  void found.then(([four, six]) => {
    const addresses = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : [])
    ]
    if (addresses.length > 0) return done(null, addresses)
    const isLate = four.status === "rejected" && four.reason instanceof Object && "code" in four.reason && four.reason.code === "ETIMEOUT"
    done(Object.assign(new Error("no address"), { code: isLate ? "ETIMEDOUT" : "ENOTFOUND" }), [])
  })
}

/** Resolves names chosen by organizations. */
export const Resolver = Context.Reference<Resolve>("runtime/egress/Resolver", { defaultValue: () => askNameServers })

const mostLookups = 64

/**
 * Asks the operating system, because only this machine may know the names of a private network. The process has few threads for that, so one
 * lookup serves every request that waits for the same name, and the number of names looked up at once is limited.
 */
export const askThisMachine = (): Resolve => {
  const waiting = new Map<string, Array<Parameters<Resolve>[2]>>()
  return (hostname, _, done) => {
    const others = waiting.get(hostname)
    if (others !== undefined) return void others.push(done)
    if (waiting.size >= mostLookups) return done(Object.assign(new Error("too many names"), { code: "EAI_AGAIN" }), [])
    waiting.set(hostname, [done])
    lookup(hostname, { all: true }, (error, found) => {
      const all = waiting.get(hostname) ?? []
      waiting.delete(hostname)
      for (const one of all) one(error, found ?? [])
    })
  }
}
