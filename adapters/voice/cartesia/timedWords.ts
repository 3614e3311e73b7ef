/** Speech with the times of its words, in server-sent events of several types: https://docs.cartesia.ai/api-reference/tts/sse. Times are seconds. */
import type { SpokenWord } from "#core/model/TextToSpeech.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { refusedReply } from "#adapters/voice/shared/modelErrors.ts"
import type { SpokenEvents } from "#adapters/voice/shared/SpokenEvents.ts"

const wordsOf = (event: unknown): ReadonlyArray<SpokenWord> => {
  const words = at(event, "word_timestamps", "words")
  const ends = at(event, "word_timestamps", "end")
  if (!Array.isArray(words) || !Array.isArray(ends)) return []
  return words.map((word, index) => ({ word: String(word), untilMillis: Number(ends[index]) * 1000 }))
}

export const timedWords = (): SpokenEvents => {
  let isDone = false
  return {
    framing: "sse",
    read: (event, sent) => {
      switch (textAt(event, "type")) {
        case "chunk":
          return { audio: textAt(event, "data") }
        case "timestamps":
          return { words: wordsOf(event) }
        case "error":
          return { error: refusedReply({ status: numberAt(event, "status_code") ?? 0 }, { code: textAt(event, "error_code") }, sent) }
        case "done":
          isDone = true
          return {}
        default:
          return {}
      }
    },
    end: () => (isDone ? [] : undefined)
  }
}
