/** Lines in writing instead of speech: each is written once it is complete, and counts as heard. */
import type { Speaker } from "./ConversationActor.ts"

export const writtenLines = (write: (line: string) => void, isHeard: (line: number) => void): Speaker => {
  const begun = new Map<number, string>()
  return {
    say: (line, text, { isLast }) => {
      const words = (begun.get(line) ?? "") + text
      begun.set(line, words)
      if (!isLast) return
      begun.delete(line)
      write(words.trim())
      isHeard(line)
    },
    play: (line, recording) => {
      write(`[recording ${Object.values(recording).join(" ")}]`)
      isHeard(line)
    },
    stop: () => begun.clear()
  }
}
