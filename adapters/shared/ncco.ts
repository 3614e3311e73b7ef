/** The documents of Vonage that connect an answered call. Nothing follows, so the call ends with it. https://developer.vonage.com/en/voice/voice-api/ncco-reference */
import { linearContentType } from "./LinearMedia.ts"
import { digitsOf } from "./phoneNumbers.ts"

interface Told {
  readonly eventUrl?: ReadonlyArray<string>
}

const connectTo = (endpoint: object, from: string, more: object) => [
  { action: "connect", from: digitsOf(from), ...more, endpoint: [endpoint] }
]

/** Connects the call to the socket for its audio. */
export const streamTo = (uri: string, from = "", told: Told = {}) =>
  connectTo({ type: "websocket", uri, "content-type": linearContentType }, from, told)

interface Dialed {
  readonly number: string
  readonly shown: string
  readonly timeoutSeconds: number
  /** Gets the events of the destination's leg. Its reply when nobody answers replaces this document. */
  readonly next: string
}

/** Connects the call to another number. */
export const dialTo = ({ next, number, shown, timeoutSeconds }: Dialed) => {
  const told = { eventType: "synchronous", eventUrl: [next], timeout: timeoutSeconds }
  return connectTo({ type: "phone", number: digitsOf(number) }, shown, told)
}
