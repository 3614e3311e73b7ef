/**
 * Vonage's words on a media socket, besides the audio. The stream stops without a word.
 * https://developer.vonage.com/en/voice/voice-api/guides/websockets
 */
import { textAt } from "#adapters/shared/Json.ts"
import { type LinearDialect, linearMedia } from "#adapters/shared/LinearMedia.ts"
import type { MarkTime } from "#adapters/shared/MediaMarks.ts"

export const contentType = "audio/l16;rate=8000"

const dialect: LinearDialect = {
  isStart: (message) => {
    if (textAt(message, "event") !== "websocket:connected") return false
    if (textAt(message, "content-type") !== contentType) throw new Error("Vonage sends another format than it was asked for")
    return true
  },
  told: (message) => {
    const event = textAt(message, "event")
    if (event === undefined) throw new Error("not a message of the protocol")
    // Some bridges put the key one level deeper.
    if (event === "websocket:dtmf") return { pressed: textAt(message, "digit") ?? textAt(message, "dtmf", "digit") }
    // Others are for information, such as `websocket:cleared`.
    return event === "websocket:notify" ? { played: textAt(message, "payload", "id") } : {}
  },
  clear: () => ({ action: "clear" }),
  mark: (id) => ({ action: "notify", payload: { id } })
}

export const vonageMedia = (time?: MarkTime) => linearMedia(dialect, time)
