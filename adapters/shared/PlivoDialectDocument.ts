/**
 * Tells the carrier to connect the audio of an answered call to our socket. Nothing follows the stream, so the call ends when the stream does.
 * https://www.plivo.com/docs/voice/xml/stream
 */
import type { Callback } from "#core/provider/Callback.ts"
import { documentOf, element, text } from "./xml.ts"

/** Without audio to connect to, the line stays open for the engine to end the call, but not for longer than this. */
const SILENCE_SECONDS = 60

const attributes = { bidirectional: "true", keepCallAlive: "true", audioTrack: "inbound", contentType: "audio/x-mulaw;rate=8000" }

const elementFor = ({ call, isWanted, mediaUrl }: Callback): string => {
  if (!isWanted || call === undefined) return element("Hangup", {})
  return mediaUrl === undefined ? element("Wait", { length: String(SILENCE_SECONDS) }) : element("Stream", attributes, text(mediaUrl))
}

/** Ends the call. */
export const hangUp = documentOf(element("Response", {}, element("Hangup", {})))

/** The document depends on the address, and on whether the call is still wanted. */
export const documentFor = (callback: Callback): string => documentOf(element("Response", {}, elementFor(callback)))
