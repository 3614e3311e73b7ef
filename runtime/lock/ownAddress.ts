/** The address at which other engines reach this one. */
import { hostname } from "node:os"
import type { Config } from "#runtime/config/config.ts"

const isAnyAddress = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** In the form `host:port`. */
export const ownAddress = ({ host, nodeAddress }: Pick<Config["Service"], "host" | "nodeAddress">, port: number): string =>
  `${nodeAddress ?? (isAnyAddress(host) ? hostname() : host)}:${port}`
