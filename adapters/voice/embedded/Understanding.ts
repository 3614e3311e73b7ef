/**
 * What a sentence means, as far as the lexicon knows. A missing meaning is better than a wrong one: a meaning only counts if it makes up most of the
 * sentence, and a negation overrides what it negates.
 */
import { continuations, fillers, interjections, negators, openings, plainAnswers, plainContinuations, questions } from "./lexicon.ts"
import { type Meaning, meanings, phrases } from "./phrases.ts"
import { placeOf, stemOf, wordsOf } from "./words.ts"

interface Phrase {
  readonly meaning: Meaning
  /** Whether only exactly these words count: "speaking" is a yes, "speak" is not. */
  readonly isExact: boolean
  readonly stems: ReadonlyArray<string>
  readonly negates: boolean
}
const isOpening = ({ stems }: Pick<Phrase, "stems">): boolean => openings.has(stems.join(" "))
/** `The flight was cancelled` cancels nothing. */
const exact: ReadonlySet<Meaning> = new Set(["affirm", "deny", "unsure", "cancel"])
const known: ReadonlyArray<Phrase> = meanings
  .flatMap((meaning) =>
    phrases[meaning].map((phrase) => {
      const words = wordsOf(phrase)
      const isExact = exact.has(meaning)
      return { meaning, isExact, stems: isExact ? words : words.map(stemOf), negates: words.some((word) => negators.has(word)) }
    })
  )
  // Longer ones first, and those that may open any sentence last: `I'm not interested` is about interest.
  .toSorted((a, b) => Number(isOpening(a)) - Number(isOpening(b)) || b.stems.length - a.stems.length)

interface Hit extends Phrase {
  readonly at: number
}

const endOf = ({ at, stems }: Hit): number => at + stems.length

/** Whether a yes or no really is one in its context: `no one`, `fine dining` and `i do the laundry` are not. */
const isAnswer = (hit: Hit, words: ReadonlyArray<string>, hits: ReadonlyArray<Hit>, isValue: (place: number) => boolean): boolean => {
  if (hit.meaning !== "affirm" && hit.meaning !== "deny") return true
  const end = endOf(hit)
  const next = words[end]
  if (next === undefined || hits.some(({ at }) => at === end) || interjections.has(next)) return true
  if (isOpening(hit)) return continuations.has(next) && !verbsAfter.has(next)
  if (isValue(end) || continuations.has(next)) return true
  return (
    (hit.stems.length > 1 && fillers.has(next) && !articles.has(next)) ||
    (plainAnswers.has(hit.stems[0] ?? "") && plainContinuations.has(next))
  )
}
const articles = new Set(["a", "an", "the", "my", "your"])
const verbsAfter = new Set(["not", "never", "really", "actually", "it", "that", "this", "you"])

/** How far before a phrase a negation still concerns it. */
const reach = 3
const most = 60

const hitsIn = (words: ReadonlyArray<string>): ReadonlyArray<Hit> => {
  const ofStems = words.map(stemOf)
  /** A phrase may have two meanings, but each word belongs to only one phrase. */
  const taken = new Map<number, string>()
  const hits: Array<Hit> = []
  for (const phrase of known) {
    const said = phrase.isExact ? words : ofStems
    for (let at = placeOf(said, phrase.stems); at >= 0; at = placeOf(said, phrase.stems, at + 1)) {
      const places = phrase.stems.map((_, offset) => at + offset)
      const span = `${at} ${places.length}`
      if (places.some((place) => (taken.get(place) ?? span) !== span)) continue
      for (const place of places) taken.set(place, span)
      hits.push({ ...phrase, at })
    }
  }
  return hits.toSorted((a, b) => a.at - b.at)
}

const isNegated = ({ at, meaning, negates }: Hit, words: ReadonlyArray<string>): boolean =>
  // `no yes` retracts the no; `no i am busy` does not deny being busy.
  !negates && words.slice(Math.max(0, at - reach), at).some((word) => negators.has(word) && (word !== "no" || meaning === "affirm"))

/** Whether the phrases make up enough of the sentence. `isValue`: a number, a date or the like does not count either way. */
const isEnough = (words: ReadonlyArray<string>, hits: ReadonlyArray<Hit>, isValue: (place: number) => boolean): boolean => {
  const covered = new Set(hits.flatMap(({ at, stems }) => stems.map((_, offset) => at + offset)))
  const content = words
    .map((word, place) => ({ word, place }))
    .filter(({ place, word }) => covered.has(place) || !(fillers.has(word) || negators.has(word) || isValue(place)))
  const share = content.filter(({ place }) => covered.has(place)).length / content.length
  if (share >= 0.5 || (share >= 0.4 && hits.some(({ stems }) => stems.length > 1))) return true
  const [first] = hits
  const opens =
    first !== undefined &&
    (first.meaning === "affirm" || first.meaning === "deny") &&
    words.slice(0, first.at).every((word) => interjections.has(word))
  return opens && content.length <= 8 && (first.stems.length > 1 || plainAnswers.has(first.stems[0] ?? ""))
}

/** The meanings of a sentence. Both a no and a yes make a no; uncertainty makes neither. */
export const meaningsOf = (words: ReadonlyArray<string>, isValue: (place: number) => boolean = () => false): ReadonlySet<Meaning> => {
  const heard = words.slice(0, most)
  const asks = questions.test(heard.join(" "))
  // `Is no the answer?` is not a no.
  const all = hitsIn(heard).filter(({ meaning, stems }) => !asks || stems.length > 1 || meaning === "repeat")
  const hits = all.filter((hit) => isAnswer(hit, heard, all, isValue))
  if (hits.length === 0 || !isEnough(heard, hits, isValue)) return new Set()
  const found = new Set(
    hits.flatMap((hit): ReadonlyArray<Meaning> => {
      if (!isNegated(hit, heard)) return [hit.meaning]
      return hit.meaning === "affirm" ? ["deny"] : []
    })
  )
  if (found.has("unsure")) for (const meaning of ["affirm", "deny"] as const) found.delete(meaning)
  if (found.has("deny")) found.delete("affirm")
  return found
}
