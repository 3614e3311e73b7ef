/**
 * Speech with the times of its characters, an object on each line: https://elevenlabs.io/docs/api-reference/text-to-speech/stream-with-timestamps.
 * `alignment` has the characters of the text as it was sent, with seconds from the start of the whole speech. It may be null, and a word may go on
 * in the next object.
 */
import type { SpokenWord } from "#core/model/TextToSpeech.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { midStream } from "#adapters/voice/shared/modelErrors.ts"
import type { SpokenEvents } from "#adapters/voice/shared/SpokenEvents.ts"

const listAt = (event: unknown, name: string): ReadonlyArray<unknown> => {
  const list = at(event, "alignment", name)
  return Array.isArray(list) ? list : []
}

export const timedCharacters = (): SpokenEvents => {
  let word = ""
  let untilMillis = 0
  const over = (): ReadonlyArray<SpokenWord> => {
    const words = word === "" ? [] : [{ word, untilMillis }]
    word = ""
    return words
  }
  const wordsOf = (event: unknown): ReadonlyArray<SpokenWord> => {
    const ends = listAt(event, "character_end_times_seconds")
    return listAt(event, "characters").flatMap((character, index) => {
      if (typeof character !== "string" || /^\s*$/.test(character)) return over()
      word += character
      // A comma lasts as long as the pause after the word.
      if (/[\p{L}\p{M}\p{N}]/u.test(character)) untilMillis = Number(ends[index]) * 1000
      return []
    })
  }
  return {
    framing: "lines",
    read: (event, sent) => {
      const isSpeech = at(event, "audio_base64") !== undefined || at(event, "alignment") !== undefined
      return isSpeech ? { audio: textAt(event, "audio_base64"), words: wordsOf(event) } : { error: midStream(event, sent) }
    },
    end: over
  }
}
