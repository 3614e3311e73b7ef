/**
 * What the carrier is to do with a call that is answered: connect its audio to our socket. Nothing follows the stream, so the call ends when the stream
 * does. https://www.plivo.com/docs/voice/xml/stream
 */
import type { Callback } from "#core/provider/Callback.ts"
import { pairsOf, partsOf } from "./CarrierRequest.ts"
import { documentOf, element, text } from "./xml.ts"

/** In the query of the address where the carrier asks for the document: the address of the socket. */
export const MEDIA_PARAMETER = "media"

/** Without audio to connect to, the line stays open for the engine to end the call, but not for longer than this. */
const SILENCE_SECONDS = 60

const attributes = { bidirectional: "true", keepCallAlive: "true", audioTrack: "inbound", contentType: "audio/x-mulaw;rate=8000" }

const mediaUrlIn = ({ url }: Callback): string | undefined => {
  const [, mediaUrl = ""] = pairsOf(partsOf(url)?.query ?? "").find(([name]) => name === MEDIA_PARAMETER) ?? []
  return /^wss?:\/\/[^\s?#]+$/.test(mediaUrl) ? mediaUrl : undefined
}

const elementFor = (callback: Callback): string => {
  if (!callback.isWanted || callback.call === undefined) return element("Hangup", {})
  const mediaUrl = mediaUrlIn(callback)
  return mediaUrl === undefined ? element("Wait", { length: String(SILENCE_SECONDS) }) : element("Stream", attributes, text(mediaUrl))
}

/** It depends on the address, and on whether the call is still wanted. */
export const documentFor = (callback: Callback): string => documentOf(element("Response", {}, elementFor(callback)))
