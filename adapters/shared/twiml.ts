/** The document that connects an answered call to our media socket, in Twilio's TwiML, which is also Cloudonix' CXML. */
import { documentOf, element, text } from "./xml.ts"

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

/** Ends the call. */
export const hangUp = documentOf(element("Response", {}, element("Hangup", {})))

interface Dialed {
  readonly number: string
  readonly shown: string
  readonly timeoutSeconds: number
  /** Serves the next document, when the destination has hung up or has not answered. */
  readonly next: string
  /** Notified when the destination answers; undefined: the carrier cannot report that. */
  readonly told?: string | undefined
}

/** Connects the callee to another number; meanwhile, they hear it ring. */
export const dialTo = ({ next, number, shown, timeoutSeconds, told }: Dialed): string => {
  const destination = told === undefined ? {} : { statusCallback: told, statusCallbackEvent: "answered", statusCallbackMethod: "POST" }
  const dial = { action: next, method: "POST", callerId: shown, timeout: String(timeoutSeconds) }
  return documentOf(element("Response", {}, element("Dial", dial, element("Number", destination, text(number)))))
}
