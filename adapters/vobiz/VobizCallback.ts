/**
 * Vobiz' callbacks are those of Plivo's dialect, but their signature covers only their address and a nonce. So the engine keeps each nonce, refuses it
 * with another body, and believes the call's record alone of its id, its end and its cost.
 */
import { nonceOf } from "#adapters/shared/CarrierRequest.ts"
import { readDialect } from "#adapters/shared/PlivoDialectCallback.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { proofOf } from "./signature.ts"

const isSigned = ({ headers }: Callback): boolean =>
  Object.entries(headers).some(([name, value]) => name.startsWith("x-vobiz-signature-") && value !== undefined)

/**
 * Whether Vobiz asks for a media socket. It is not documented that it signs this request, nor over which scheme: without any signature, the address is
 * the proof, as we have given it to nobody else.
 */
export const admits = (authToken: string, upgrade: Callback): boolean => {
  const urls = [upgrade.url, ...["http", "https"].map((scheme) => upgrade.url.replace(/^wss?:/, `${scheme}:`))]
  return !isSigned(upgrade) || urls.some((url) => proofOf({ ...upgrade, url }, authToken) !== undefined)
}

export const readCallback = (authToken: string, callback: Callback): CallbackRead | undefined => {
  const proof = proofOf(callback, authToken)
  if (proof === undefined) return undefined
  return { ...readDialect(callback, proof), ...nonceOf(proof) }
}
