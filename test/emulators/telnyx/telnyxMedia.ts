/** Telnyx' messages on a media socket. https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming */
import { randomUUID } from "node:crypto"
import { type MediaWords, parsed, saidIn } from "#test/emulators/shared/MediaLeg.ts"
import type { Dial } from "./TelnyxDials.ts"

interface TelnyxNames {
  readonly call_control_id: string
  readonly call_session_id: string
}

export const telnyxWords = (names: TelnyxNames, { client_state, from, to }: Dial): MediaWords => {
  const stream_id = randomUUID()
  let sequence = 0
  let playedMillis = 0
  const numbered = (event: string, more: object) => ({ event, sequence_number: String(++sequence), ...more, stream_id })
  const mark = (name: string) => numbered("mark", { mark: { name } })
  return {
    connected: () => ({ event: "connected", version: "1.0.0" }),
    start: () => {
      const media_format = { encoding: "PCMU", sample_rate: 8000, channels: 1 }
      return numbered("start", { start: { user_id: randomUUID(), ...names, from, to, tags: [], client_state, media_format } })
    },
    audio: (frame, chunk) => {
      const timestamp = String((playedMillis += 20))
      return numbered("media", { media: { track: "inbound", chunk: String(chunk), timestamp, payload: frame.toString("base64") } })
    },
    press: (digit) => numbered("dtmf", { occurred_at: new Date().toISOString(), dtmf: { digit } }),
    played: mark,
    cleared: (cleared) => cleared.map(mark),
    stop: () => numbered("stop", { stop: { user_id: randomUUID(), ...names } }),
    read: (data, isBinary) => saidIn(parsed(data, isBinary) ?? {})
  }
}
