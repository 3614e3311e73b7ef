/** The messages of Plivo's dialect on a media socket. https://www.plivo.com/docs/voice/xml/stream */
import { randomUUID } from "node:crypto"
import { audioIn, type MediaWords, parsed, type Said } from "./MediaLeg.ts"

interface DialectNames {
  readonly accountId: string
  readonly callId: string
}

/** The differences between the carriers of the dialect. */
export interface MediaTraits {
  /** Whether the callee's keys are reported. */
  readonly tellsKeys: boolean
  /** Whether a reached checkpoint is reported with the id of its stream. */
  readonly namesStream: boolean
}

/** Longer payloads are refused. */
const longestPayload = 16_384

export const dialectWords = ({ accountId, callId }: DialectNames, { namesStream, tellsKeys }: MediaTraits): MediaWords => {
  const streamId = randomUUID()
  let sequenceNumber = 0
  let playedMillis = 0
  const numbered = (event: string, more: object) => ({ sequenceNumber: ++sequenceNumber, event, ...more, extra_headers: "" })
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000 }
  return {
    start: () => numbered("start", { start: { callId, streamId, accountId, tracks: ["inbound"], mediaFormat } }),
    audio: (frame, chunk) => {
      const timestamp = String((playedMillis += 20))
      return numbered("media", { streamId, media: { track: "inbound", timestamp, chunk, payload: frame.toString("base64") } })
    },
    ...(tellsKeys
      ? { press: (digit: string) => numbered("dtmf", { streamId, dtmf: { track: "inbound", digit, timestamp: String(playedMillis) } }) }
      : {}),
    played: (name) => ({ event: "playedStream", ...(namesStream ? { streamId } : {}), name }),
    // Cleared checkpoints are not reported.
    cleared: () => [{ event: "clearedAudio", streamId }],
    read: (data, isBinary): Said | undefined => {
      const message = parsed(data, isBinary)
      if (message?.["event"] === "playAudio") return audioOf(message["media"])
      if (message?.["streamId"] !== streamId) return undefined
      if (message["event"] === "clearAudio") return { _tag: "Clear" }
      const name = message["name"]
      return message["event"] === "checkpoint" && typeof name === "string" ? { _tag: "Mark", name } : undefined
    }
  }
}

const audioOf = (media: unknown): Said | undefined => {
  if (!(media instanceof Object)) return undefined
  const payload: unknown = Reflect.get(media, "payload")
  const isFormat = Reflect.get(media, "contentType") === "audio/x-mulaw" && Reflect.get(media, "sampleRate") === 8000
  return isFormat && String(payload).length <= longestPayload ? audioIn(payload) : undefined
}
