/** The decoders of a process: as many as utterances are recognized at the same time, and for a while afterwards. */
import type { Jsgf } from "./Grammar.ts"
import type { LearnedDecoder } from "./LearnedDecoder.ts"

type Kept = Pick<LearnedDecoder, "close" | "knows" | "words">

interface Decoders<A extends Kept> {
  /** Prefers a decoder that knows the grammar. */
  readonly take: (grammar: Jsgf) => A
  readonly giveBack: (decoder: A) => void
  /** Closes decoders that have not been used for a while. To be called from time to time. */
  readonly tidy: () => void
}

/** Words cannot be removed from a decoder, so one that has learned more than this is replaced: by then it has grown by 2 MB. */
const mostWords = 5000
const idleMillis = 60_000

/** Always keeps at least one decoder. `now` is in milliseconds. */
export const makeDecoders = <A extends Kept>(open: () => A, now: () => number): Decoders<A> => {
  /** The most recently used first. */
  const free: Array<{ readonly decoder: A; readonly since: number }> = [{ decoder: open(), since: now() }]
  let taken = 0
  return {
    take: (grammar) => {
      const at = free.findIndex(({ decoder }) => decoder.knows(grammar))
      const [found] = free.splice(Math.max(0, at), 1)
      taken++
      return found?.decoder ?? open()
    },
    giveBack: (decoder) => {
      taken--
      if (decoder.words() > mostWords) return decoder.close()
      free.unshift({ decoder, since: now() })
    },
    tidy: () => {
      const due = free.findIndex(({ since }) => now() - since > idleMillis)
      if (due === -1) return
      const first = due === 0 && taken === 0 ? 1 : due
      for (const { decoder } of free.splice(first)) decoder.close()
    }
  }
}
