/** The parts of a carrier's request, read without changing a byte of what was signed. */
import type { CarrierRequest } from "#core/provider/Callback.ts"

/** What a valid signature proves beyond the sender. */
export interface Proof {
  /**
   * Everything that is read from the body was signed; a nonce does not prove that. If false, anybody may have written the body: an end that it
   * reports is only a claim (`EndClaimed`), its cost is not believed, and its id of the call only once a look confirms it.
   */
  readonly coversBody: boolean
  /** A value that the carrier uses only once: another request with the same one is a replay. Undefined where the scheme has none. */
  readonly nonce: string | undefined
}

export const nonceOf = ({ nonce }: Proof): { readonly nonce?: string } => (nonce === undefined ? {} : { nonce })

const MAX_AGE_SECONDS = 300

/** Whether the signed time of a request is less than five minutes from ours in either direction, because clocks differ. */
export const isRecent = ({ at }: CarrierRequest, sentAtSeconds: number | undefined): boolean =>
  sentAtSeconds !== undefined && Math.abs(at / 1000 - sentAtSeconds) <= MAX_AGE_SECONDS

export type Pair = readonly [name: string, value: string]

/** Parsed once, because both the signature and the meaning depend on the form. */
const forms = new WeakMap<CarrierRequest, ReadonlyArray<Pair>>()

/** The fields of a form, in their order, decoded; undefined for any other body. Empty values are kept. */
export const formOf = (request: CarrierRequest): ReadonlyArray<Pair> | undefined => {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) return undefined
  const known = forms.get(request)
  if (known !== undefined) return known
  const form = pairsOf(Buffer.from(request.body).toString())
  forms.set(request, form)
  return form
}

/** The pairs of a query or a form, in their order, decoded. */
export const pairsOf = (text: string): ReadonlyArray<Pair> => [...new URLSearchParams(text)]

interface UrlParts {
  readonly scheme: string
  readonly host: string
  /** Includes the colon; empty if the address names no port. */
  readonly port: string
  readonly path: string
  /** Does not include the question mark. */
  readonly query: string
}

const url = /^(https?|wss?):\/\/([^/?#:]+|\[[^\]]+\])(:\d+)?([^?#]*)(?:\?([^#]*))?/

/** Splits an address without re-encoding anything; undefined for anything but http and websocket addresses. */
export const partsOf = (text: string): UrlParts | undefined => {
  const [whole, scheme = "", host = "", port = "", path = "", query = ""] = url.exec(text) ?? []
  return whole === undefined ? undefined : { scheme, host, port, path, query }
}
