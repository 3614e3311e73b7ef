/** The parts of a carrier's request, read without changing a byte of what was signed. */
import type { CarrierRequest } from "#core/provider/Callback.ts"

/** What a valid signature proves beyond the sender. */
export interface Proof {
  /**
   * All that is read in the body was signed. A nonce proves nothing of it. If false, anybody may have written the body: an end that it tells is a
   * claim (`EndClaimed`), its cost is not believed, and its id of the call only as far as a look confirms it.
   */
  readonly coversBody: boolean
  /** A value that the carrier uses only once: another request with the same one is a replay. Undefined where the scheme has none. */
  readonly nonce: string | undefined
}

export const nonceOf = ({ nonce }: Proof): { readonly nonce?: string } => (nonce === undefined ? {} : { nonce })

const MAX_AGE_SECONDS = 300

/** Whether a request was sent within the last five minutes, by the time that it was signed with; clocks may be as far apart. */
export const isRecent = ({ at }: CarrierRequest, sentAtSeconds: number | undefined): boolean =>
  sentAtSeconds !== undefined && Math.abs(at / 1000 - sentAtSeconds) <= MAX_AGE_SECONDS

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
