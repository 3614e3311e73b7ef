/** Where another engine accepts connections from this one. */
import type { Seen } from "#runtime/postgres/LockStore.ts"

export interface EnginePlace {
  readonly host: string
  readonly port: number
}

/** `hostname`: that of this machine. Undefined: no engine is there, or it listens only for its own machine, which is another one. */
export const placeOf = (seen: Pick<Seen, "address" | "host"> | undefined, hostname: string): EnginePlace | undefined => {
  const [, host, port] = /^(.+):(\d+)$/.exec(seen?.address ?? "") ?? []
  if (host === undefined || (isLoopback(host) && seen?.host !== hostname)) return undefined
  return { host, port: Number(port) }
}

const isLoopback = (host: string): boolean => /^(127\.|localhost$|::1$)/.test(host)
