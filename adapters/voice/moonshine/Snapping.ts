/** Finds what a callee probably said: the expected sentence that sounds most like what a model has heard, if one does. */
import type { Expected } from "./Expected.ts"
import { gapCost, soundsOf, swapCost } from "./Sounds.ts"

export interface Nearest {
  readonly text: string
  /** From 0, the same sounds, to 1 and above: the cost of the differences for each sound of the longer text. */
  readonly distance: number
}

/** The cheapest way to a state with the first sounds of the text, for each number of them. */
interface Reached {
  readonly costs: Float64Array
  /** The words on that way. */
  readonly words: Array<Words | undefined>
}
interface Words {
  readonly word: string
  readonly sounds: number
  readonly before: Words | undefined
}

/** Texts with more sounds are no answers. */
const mostSounds = 80
/** Ways that cost more for each sound of the text lead nowhere: without this, each sentence of the grammar would be followed to its end. */
const mostCost = 0.45
const spokenWords = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}'’]+/gu) ?? []
const codesOf = (sounds: string): Uint8Array => Uint8Array.from(sounds, (sound) => sound.charCodeAt(0))

const unreached = (length: number): Reached => ({
  costs: new Float64Array(length + 1).fill(Number.POSITIVE_INFINITY),
  words: Array.from({ length: length + 1 }, () => undefined)
})

/** Compares the sounds of words with those of one text. */
const makeComparison = (heard: Uint8Array) => {
  const size = heard.length + 1
  const most = mostCost * (size + 1)
  let [costs, next] = [new Float64Array(size), new Float64Array(size)]
  let [from, origins] = [new Int32Array(size), new Int32Array(size)]
  return {
    /** Takes the sounds of a word after what has been reached. False: it costs too much. The results below are then not set. */
    take: (before: Float64Array, sounds: string): boolean => {
      costs.set(before)
      for (let at = 0; at < size; at++) from[at] = at
      for (let index = 0; index < sounds.length; index++) {
        const sound = sounds.charCodeAt(index)
        const missed = gapCost(sound)
        let least = Number.POSITIVE_INFINITY
        for (let at = 0; at < size; at++) {
          let best = (costs[at] ?? 0) + missed
          let origin = from[at] ?? 0
          if (at > 0) {
            const last = heard[at - 1] ?? 0
            const swapped = (costs[at - 1] ?? 0) + swapCost(sound, last)
            if (swapped < best) {
              best = swapped
              origin = from[at - 1] ?? 0
            }
            const added = (next[at - 1] ?? 0) + gapCost(last)
            if (added < best) {
              best = added
              origin = origins[at - 1] ?? 0
            }
          }
          next[at] = best
          origins[at] = origin
          if (best < least) least = best
        }
        if (least > most) return false
        ;[costs, next] = [next, costs]
        ;[from, origins] = [origins, from]
      }
      return true
    },
    cost: (at: number): number => costs[at] ?? 0,
    /** How many sounds of the text came before the word. */
    from: (at: number): number => from[at] ?? 0,
    most
  }
}

const textOf = (words: Words | undefined): string => (words === undefined ? "" : `${textOf(words.before)} ${words.word}`.trim())
const soundCount = (words: Words | undefined): number => (words === undefined ? 0 : words.sounds + soundCount(words.before))

/** Undefined if none sounds at all like it. */
export const nearest = ({ steps }: Expected, text: string): Nearest | undefined => {
  const heard = codesOf(spokenWords(text).map(soundsOf).join(""))
  if (heard.length === 0 || heard.length > mostSounds) return undefined
  const comparison = makeComparison(heard)
  const reached = steps.map((): Reached | undefined => undefined)
  const first = unreached(heard.length)
  first.costs[0] = 0
  reached[0] = first
  /** Updates what has been reached, and tells whether it has become cheaper. */
  const reach = (before: Reached, { sounds, to, word }: Expected["steps"][number][number]): boolean => {
    if (!comparison.take(before.costs, sounds)) return false
    const after = (reached[to] ??= unreached(heard.length))
    let isCheaper = false
    for (let at = 0; at <= heard.length; at++) {
      const cost = comparison.cost(at)
      if (cost > comparison.most || cost >= (after.costs[at] ?? 0)) continue
      const words = before.words[comparison.from(at)]
      after.costs[at] = cost
      after.words[at] = word === "" ? words : { word, sounds: sounds.length, before: words }
      isCheaper = true
    }
    return isCheaper
  }
  const due = new Set([0])
  for (const state of due) {
    due.delete(state)
    const before = reached[state]
    if (before === undefined) continue
    for (const step of steps[state] ?? []) if (reach(before, step)) due.add(step.to)
  }
  const words = reached[1]?.words[heard.length]
  const cost = reached[1]?.costs[heard.length] ?? Number.POSITIVE_INFINITY
  return words === undefined ? undefined : { text: textOf(words), distance: cost / Math.max(heard.length, soundCount(words)) }
}
