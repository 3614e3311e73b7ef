/**
 * Which piece of speech is made next. Nobody who has answered waits for somebody whose phone still rings: what a callee should be hearing
 * by now comes first. Everything else goes by when it will be needed, so that a second sentence does not keep another's first one waiting.
 */
import type { CampaignId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** One call's wish for a piece. */
export interface Wanted {
  readonly isAnswered: boolean
  /** When it is to be heard, as far as that is known. */
  readonly neededAt: SteadyMillis
  readonly campaignId?: CampaignId | undefined
}

interface Wish {
  /** Of all who want the piece; none: nobody does any more. */
  readonly wants: Iterable<Wanted>
}

/** Whichever of two wishes is smaller is more urgent: first who is kept waiting, then by time. */
const urgencyOf = ({ wants }: Wish, now: SteadyMillis): readonly [later: number, neededAt: SteadyMillis] => {
  let answered = Number.POSITIVE_INFINITY
  let anybody = Number.POSITIVE_INFINITY
  for (const { isAnswered, neededAt } of wants) {
    anybody = Math.min(anybody, neededAt)
    if (isAnswered) answered = Math.min(answered, neededAt)
  }
  return answered <= now ? [0, answered] : [1, anybody]
}

/** Of those that are equally urgent, the first. */
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
 * Whether one of them will be more than `tolerance` late, if they are made in the order in which they are needed, each in `pieceMillis`. A
 * second sentence, which is needed when the first has been said, does not count against phones that begin to ring.
 */
export const areLate = (wishes: Iterable<Wish>, now: SteadyMillis, pieceMillis: number, tolerance: number): boolean => {
  const needed = Array.from(wishes, neededAtOf).toSorted((a, b) => a - b)
  return needed.some((at, index) => now + (index + 1) * pieceMillis > at + tolerance)
}

export const mostUrgent = <W extends Wish>(wishes: Iterable<W>, now: SteadyMillis): W | undefined => extreme(wishes, now, 1)
export const leastUrgent = <W extends Wish>(wishes: Iterable<W>, now: SteadyMillis): W | undefined => extreme(wishes, now, -1)
