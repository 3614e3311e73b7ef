/** Has speech recognized while the callee is still speaking: piece by piece, as soon as it is clear that a piece belongs to the utterance. */
import { frameMillis } from "#core/audio/Mulaw.ts"
import type { Jsgf } from "./Grammar.ts"
import type { Recognition } from "./Recognition.ts"
import type { SphinxUtterance } from "./SphinxProcess.ts"
import type { Span, Utterance } from "#adapters/shared/Utterance.ts"

interface Follower {
  /** To be called after each frame. Only a callee who seems to be speaking is followed. */
  readonly follow: (grammar: Jsgf | undefined, isSpeech: boolean) => void
  /** The utterance, if it was followed. The caller must now ask for its answer. */
  readonly take: (span: Span, grammar: Jsgf) => SphinxUtterance | undefined
  readonly giveUp: () => void
}

interface Followed {
  readonly utterance: SphinxUtterance
  readonly grammar: Jsgf
  readonly from: number
  /** The end of the audio that the process already has. */
  until: number
}

const pieceFrames = 100 / frameMillis
/** No decoder is kept for a callee who speaks for longer than this: that is not an answer. */
const longestFrames = 8000 / frameMillis

export const makeFollower = (recognition: Recognition, { audio, saying }: Pick<Utterance, "audio" | "saying">): Follower => {
  let followed: Followed | undefined
  let frames = 0

  const giveUp = () => {
    followed?.utterance.giveUp()
    followed = undefined
  }
  const tell = (one: Followed, until: number): boolean => {
    if (until <= one.until) return true
    const span = { from: one.until, until }
    one.until = until
    return one.utterance.hear(audio(span))
  }
  const begin = (grammar: Jsgf, { from }: Span): Followed | undefined => {
    const utterance = recognition.listen(grammar)
    return utterance === undefined ? undefined : { utterance, grammar, from, until: from }
  }
  return {
    follow: (grammar, isSpeech) => {
      if (++frames % pieceFrames !== 0) return
      const span = saying()
      const isFollowable = span !== undefined && grammar !== undefined && span.until - span.from <= longestFrames
      if (!isFollowable || followed?.from !== span.from || followed.grammar !== grammar) giveUp()
      if (!isFollowable) return
      if (isSpeech) followed ??= begin(grammar, span)
      if (followed !== undefined && !tell(followed, span.until)) giveUp()
    },
    take: (span, grammar) => {
      const isSame = followed?.from === span.from && followed.until <= span.until && followed.grammar === grammar
      if (followed === undefined || !isSame || !tell(followed, span.until)) {
        giveUp()
        return undefined
      }
      const { utterance } = followed
      followed = undefined
      return utterance
    },
    giveUp
  }
}
