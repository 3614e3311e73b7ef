/** The document that connects an answered call to our media socket, in Twilio's TwiML, which is also Cloudonix' CXML. */
import { documentOf, element } from "./xml.ts"

/** Without audio to connect to, the line stays open for the engine to end the call, but not for longer than this. */
const SILENCE_SECONDS = 60

/** Nothing follows the stream, so the call ends when we close its socket. `mediaUrl`: where the call's audio is served; undefined: nowhere. */
export const streamTo = (mediaUrl: string | undefined): string => {
  const answer =
    mediaUrl === undefined
      ? element("Pause", { length: String(SILENCE_SECONDS) })
      : element("Connect", {}, element("Stream", { url: mediaUrl }))
  return documentOf(element("Response", {}, answer))
}
