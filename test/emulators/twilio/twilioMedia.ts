/** Twilio's messages on a media socket. https://www.twilio.com/docs/voice/media-streams/websocket-messages */
import { createHmac, randomBytes } from "node:crypto"
import { type MediaWords, parsed, saidIn } from "#test/emulators/shared/MediaLeg.ts"

export const twilioWords = (accountSid: string, callSid: string): MediaWords & Required<Pick<MediaWords, "start">> => {
  const streamSid = `MZ${randomBytes(16).toString("hex")}`
  let sequence = 0
  let playedMillis = 0
  const numbered = (event: string, more: object) => ({ event, sequenceNumber: String(++sequence), ...more, streamSid })
  const mark = (name: string) => numbered("mark", { mark: { name } })
  return {
    connected: () => ({ event: "connected", protocol: "Call", version: "1.0.0" }),
    start: () => {
      const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 }
      return numbered("start", { start: { accountSid, streamSid, callSid, tracks: ["inbound"], mediaFormat, customParameters: {} } })
    },
    audio: (frame, chunk) => {
      const timestamp = String((playedMillis += 20))
      return numbered("media", { media: { track: "inbound", chunk: String(chunk), timestamp, payload: frame.toString("base64") } })
    },
    press: (digit) => numbered("dtmf", { dtmf: { track: "inbound_track", digit } }),
    played: mark,
    // Twilio reports cleared marks at once, like played ones.
    cleared: (names) => names.map(mark),
    stop: () => numbered("stop", { stop: { accountSid, callSid } }),
    read: (data, isBinary) => {
      const message = parsed(data, isBinary)
      return message?.["streamSid"] === streamSid ? saidIn(message) : undefined
    }
  }
}

/** The headers of the request for the socket. */
export const upgradeHeaders = (url: string, authToken: string): Readonly<Record<string, string>> => ({
  "x-twilio-signature": createHmac("sha1", authToken).update(url).digest("base64")
})
