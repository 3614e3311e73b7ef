/** What a campaign's log says when the campaign could dial but finds no slot. Pure: a `CapacityWatch` holds what was logged before. */
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { lastAt, type LastWord, ofMedia } from "./LastWords.ts"
import * as Stops from "./stops.ts"

/** Each reason is mentioned at most this often. */
const LOG_AGAIN_MILLIS = 600_000

/** When each reason was last logged. */
export interface CapacityWatch {
  readonly numbersAt: SteadyMillis
  readonly mediaAt: SteadyMillis
  readonly slotsAt: SteadyMillis
}
/** `words`: the newest first, in steady time. */
export const capacityTold = (words: ReadonlyArray<LastWord>): CapacityWatch => ({
  numbersAt: lastAt(words, ["phone_number_pool_exhausted"]),
  mediaAt: lastAt(words, ["waiting_for_capacity"], isOfMedia),
  slotsAt: lastAt(words, ["waiting_for_capacity"], (word) => !isOfMedia(word))
})
const isOfMedia = ({ details }: LastWord) => details?.[ofMedia] !== undefined

export interface CapacityView {
  readonly now: SteadyMillis
  /** Every caller ID of the trunk is at its limit of calls. */
  readonly areNumbersExhausted: boolean
  /** Set if the calls need audio and the node has no room for more: how many calls with audio it has room for. */
  readonly mediaLimit: number | undefined
  /** Slots that the campaign holds. */
  readonly held: number
  /** How many of these slots belong to calls that may or may not have been placed. */
  readonly inDoubt: number
}

export const capacityNotes = (
  watch: CapacityWatch,
  { areNumbersExhausted, held, inDoubt, mediaLimit, now }: CapacityView
): readonly [notes: ReadonlyArray<Stops.Note>, watch: CapacityWatch] => {
  const isDue = (at: SteadyMillis) => now >= at + LOG_AGAIN_MILLIS
  const isNumbersDue = areNumbersExhausted && isDue(watch.numbersAt)
  const notes = isNumbersDue ? [Stops.numbersExhausted] : []
  const told = isNumbersDue ? { ...watch, numbersAt: now } : watch
  if (mediaLimit !== undefined) {
    return isDue(watch.mediaAt) ? [[...notes, Stops.waitingForMedia(mediaLimit)], { ...told, mediaAt: now }] : [notes, told]
  }
  // A campaign with calls up is getting a share of the capacity.
  if (held > inDoubt || !isDue(watch.slotsAt)) return [notes, told]
  return [[...notes, inDoubt === 0 ? Stops.waitingForCapacity : Stops.waitingForDoubts(inDoubt)], { ...told, slotsAt: now }]
}
