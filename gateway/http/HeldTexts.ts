/**
 * How many bytes of text wait for clients that do not take them, by network address: a client with a thousand connections may hold no more than one with a
 * few. Files and what is the same for everybody are not counted: they wait where they come from.
 */
import type * as uws from "uWebSockets.js"

/** Of one IPv4 address or IPv6 /64. A single longer text may always wait. */
const mostBytes = 32 * 1024 * 1024
const prefixBytes = 8

const keyOf = (res: uws.HttpResponse): string => {
  const address = Buffer.from(res.getRemoteAddress())
  const prefix = address.subarray(0, prefixBytes)
  // Longer than a prefix: IPv6. In an IPv4 address that is written as one, the prefix is zero.
  return (address.length > prefixBytes && prefix.some((byte) => byte !== 0) ? prefix : address).toString("hex")
}

export class HeldTexts {
  readonly #bytes = new Map<string, number>()

  /** Returns what is to be called when they wait no longer. Undefined: too many wait for that address already. */
  hold(res: uws.HttpResponse, bytes: number): (() => void) | undefined {
    const key = keyOf(res)
    const before = this.#bytes.get(key) ?? 0
    if (before > 0 && before + bytes > mostBytes) return undefined
    this.#bytes.set(key, before + bytes)
    return () => {
      const left = (this.#bytes.get(key) ?? bytes) - bytes
      if (left > 0) this.#bytes.set(key, left)
      else this.#bytes.delete(key)
    }
  }
}
