/**
 * What a sentence means, as far as the lexicon knows. Rather nothing than something wrong: a meaning counts only if it makes up most of the
 * sentence, and a negation beats what it negates.
 */
import { continuations, fillers, interjections, negators, questions } from "./lexicon.ts"
import { type Meaning, meanings, phrases } from "./phrases.ts"
import { placeOf, stemOf, wordsOf } from "./words.ts"

interface Phrase {
  readonly meaning: Meaning
  /** Whether only these very words count: "speaking" is a yes, "speak" is none. */
  readonly isExact: boolean
  readonly stems: ReadonlyArray<string>
  readonly negates: boolean
}
const known: ReadonlyArray<Phrase> = meanings
  .flatMap((meaning) =>
    phrases[meaning].map((phrase) => {
      const words = wordsOf(phrase)
      const isExact = meaning === "affirm" || meaning === "deny" || meaning === "unsure"
      return { meaning, isExact, stems: isExact ? words : words.map(stemOf), negates: words.some((word) => negators.has(word)) }
    })
  )
  .toSorted((a, b) => b.stems.length - a.stems.length)

interface Hit extends Phrase {
  readonly at: number
}

/** How far before a phrase a negation still concerns it. */
const reach = 3
const most = 60

const hitsIn = (words: ReadonlyArray<string>): ReadonlyArray<Hit> => {
  const ofStems = words.map(stemOf)
  const taken = new Set<number>()
  const hits: Array<Hit> = []
  for (const phrase of known) {
    const said = phrase.isExact ? words : ofStems
    for (let at = placeOf(said, phrase.stems); at >= 0; at = placeOf(said, phrase.stems, at + 1)) {
      const places = phrase.stems.map((_, offset) => at + offset)
      if (places.some((place) => taken.has(place))) continue
      for (const place of places) taken.add(place)
      hits.push({ ...phrase, at })
    }
  }
  return hits.toSorted((a, b) => a.at - b.at)
}

const isNegated = ({ at, meaning, negates }: Hit, words: ReadonlyArray<string>): boolean =>
  // `no yes` takes the no back; `no i am busy` does not deny being busy.
  !negates && words.slice(Math.max(0, at - reach), at).some((word) => negators.has(word) && (word !== "no" || meaning === "affirm"))

/** Whether the phrases make up enough of the sentence. `isValue`: a number, a date or the like does not count either way. */
const isEnough = (words: ReadonlyArray<string>, hits: ReadonlyArray<Hit>, isValue: (place: number) => boolean): boolean => {
  const covered = new Set(hits.flatMap(({ at, stems }) => stems.map((_, offset) => at + offset)))
  const content = words
    .map((word, place) => ({ word, place }))
    .filter(({ place, word }) => covered.has(place) || !(fillers.has(word) || isValue(place)))
  const share = content.filter(({ place }) => covered.has(place)).length / content.length
  if (share >= 0.5 || (share >= 0.4 && hits.some(({ stems }) => stems.length > 1))) return true
  const [first] = hits
  const opens =
    first !== undefined &&
    (first.meaning === "affirm" || first.meaning === "deny") &&
    words.slice(0, first.at).every((word) => interjections.has(word))
  const next = words[(first?.at ?? 0) + (first?.stems.length ?? 0)] ?? ""
  return opens && content.length <= 8 && continuations.has(next)
}

/** The meanings of a sentence. Both a no and a yes make a no; uncertainty makes neither. */
export const meaningsOf = (words: ReadonlyArray<string>, isValue: (place: number) => boolean = () => false): ReadonlySet<Meaning> => {
  const heard = words.slice(0, most)
  const asks = questions.test(heard.join(" "))
  // `Is no the answer?` is none.
  const hits = hitsIn(heard).filter(({ meaning, stems }) => !asks || stems.length > 1 || meaning === "repeat")
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
