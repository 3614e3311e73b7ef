/**
 * Decides which piece of speech is made next. Speech that a callee should already be hearing comes first, so that no answered call waits for
 * one that is still ringing. Everything else is made in the order in which it is needed, so that a second sentence of one call does not delay
 * the first sentence of another.
 */
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"

interface Wish {
  /** All calls that want the piece; empty once none does any more. */
  readonly wants: Iterable<SpeechWanted>
}

/** The smaller of two results is more urgent: callees that are waiting come first, and then the order is by time. */
const urgencyOf = ({ wants }: Wish, now: SteadyMillis): readonly [later: number, neededAt: SteadyMillis] => {
  let answered = Number.POSITIVE_INFINITY
  let anybody = Number.POSITIVE_INFINITY
  for (const { isAnswered, neededAt } of wants) {
    anybody = Math.min(anybody, neededAt)
    if (isAnswered) answered = Math.min(answered, neededAt)
  }
  return answered <= now ? [0, answered] : [1, anybody]
}

/** The first of those that are equally urgent. */
const extreme = <W extends Wish>(wishes: Iterable<W>, now: SteadyMillis, sign: 1 | -1): W | undefined => {
  let found: W | undefined
  let best: readonly [number, number] = [0, 0]
  for (const wish of wishes) {
    const own = urgencyOf(wish, now)
    const difference = own[0] - best[0] || own[1] - best[1] || 0
    if (found !== undefined && difference * sign >= 0) continue
    found = wish
    best = own
  }
  return found
}

const neededAtOf = ({ wants }: Wish): SteadyMillis => {
  let soonest = Number.POSITIVE_INFINITY
  for (const { neededAt } of wants) soonest = Math.min(soonest, neededAt)
  return soonest
}

/**
 * Whether one of them will be more than `tolerance` late if they are made in the order in which they are needed, each in `pieceMillis`. A second
 * sentence is needed only once the first has been said, so it does not delay the pieces for phones that start to ring.
 */
export const areLate = (wishes: Iterable<Wish>, now: SteadyMillis, pieceMillis: number, tolerance: number): boolean => {
  const needed = Array.from(wishes, neededAtOf).toSorted((a, b) => a - b)
  return needed.some((at, index) => now + (index + 1) * pieceMillis > at + tolerance)
}

export const mostUrgent = <W extends Wish>(wishes: Iterable<W>, now: SteadyMillis): W | undefined => extreme(wishes, now, 1)
export const leastUrgent = <W extends Wish>(wishes: Iterable<W>, now: SteadyMillis): W | undefined => extreme(wishes, now, -1)
