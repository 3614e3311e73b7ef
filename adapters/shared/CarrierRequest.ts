/**
 * A request that a carrier sends to us: a status callback, a request for an answer document, or the upgrade of a media socket. Signatures are
 * made over these parts, byte for byte.
 */
export interface CarrierRequest {
  readonly method: "GET" | "POST"
  /** The address that the carrier was given: `PUBLIC_URL` with the raw path and query, never the `Host` header. Upgrades have `wss:`. */
  readonly url: string
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The raw bytes; none for a GET. */
  readonly body: Uint8Array
  /** When it arrived, in epoch milliseconds. */
  readonly at: number
}

/** What a valid signature proves beyond the sender. */
export interface Proof {
  /** A value that the carrier uses only once: another request with the same one is a replay. Undefined where the scheme has none. */
  readonly nonce: string | undefined
}

export type Pair = readonly [name: string, value: string]

/** The fields of a form, in their order, decoded; undefined for any other body. Empty values are kept. */
export const formOf = ({ body, headers }: CarrierRequest): ReadonlyArray<Pair> | undefined =>
  /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "") ? pairsOf(Buffer.from(body).toString()) : undefined

/** The pairs of a query or a form, in their order, decoded. */
export const pairsOf = (text: string): ReadonlyArray<Pair> => [...new URLSearchParams(text)]

interface UrlParts {
  readonly scheme: string
  readonly host: string
  /** With its colon; empty where the address has none. */
  readonly port: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
}

const url = /^(https?|wss?):\/\/([^/?#:]+|\[[^\]]+\])(:\d+)?([^?#]*)(?:\?([^#]*))?/

/** Splits an address without re-encoding anything; undefined for anything but http and websocket addresses. */
export const partsOf = (text: string): UrlParts | undefined => {
  const [whole, scheme = "", host = "", port = "", path = "", query = ""] = url.exec(text) ?? []
  return whole === undefined ? undefined : { scheme, host, port, path, query }
}
