/** A decoder that keeps the grammars that were used last. */
import { type Jsgf, wordsOf } from "./Grammar.ts"
import type { PhoneModel } from "./PhoneModel.ts"
import type { Pronunciations } from "./Pronunciations.ts"
import { type Decoder, openDecoder } from "./Sphinx.ts"
import type { Sphinx } from "./SphinxLibrary.ts"

interface Learned {
  /** Undefined: PocketSphinx cannot use it. */
  readonly name: string | undefined
  /** Words that the dictionary lacks, and which are never recognized. */
  readonly unknown: ReadonlyArray<string>
}

export interface LearnedDecoder extends Pick<Decoder, "begin" | "close" | "end" | "frontEnd" | "search"> {
  readonly knows: (grammar: Jsgf) => boolean
  /** Takes about 20 ms, unless it knows the grammar. */
  readonly learn: (grammar: Jsgf) => Learned
  /** How many words it has learned: they stay when their grammars are forgotten. */
  readonly words: () => number
}

/** The grammar of a node takes 3 to 8 MB, including what PocketSphinx keeps of the last utterance. */
const keptGrammars = 4

export const openLearnedDecoder = (sphinx: Sphinx, model: PhoneModel, pronunciations: Pronunciations): LearnedDecoder => {
  const decoder = openDecoder(sphinx, model)
  /** The least recently used first. */
  const learned = new Map<Jsgf, { readonly name: string; readonly result: Learned }>()
  const added = new Set<string>()
  let count = 0

  /** A single word that the decoder lacks would make the whole grammar unusable. */
  const learnNew = (grammar: Jsgf) => {
    const words = wordsOf(grammar)
    pronunciations.lookUp(words)
    for (const word of words) {
      if (!added.has(word)) decoder.add(word, pronunciations.of(word))
      added.add(word)
    }
    const name = `grammar-${++count}`
    const unknown = words.filter((word) => pronunciations.of(word).length === 0)
    return { name, result: { name: decoder.learn(name, grammar) ? name : undefined, unknown } }
  }
  const learn = (grammar: Jsgf): Learned => {
    const now = learned.get(grammar) ?? learnNew(grammar)
    learned.delete(grammar)
    learned.set(grammar, now)
    const [oldest] = learned
    if (learned.size > keptGrammars && oldest !== undefined) {
      learned.delete(oldest[0])
      decoder.forget(oldest[1].name)
    }
    return now.result
  }
  return { ...decoder, knows: (grammar) => learned.has(grammar), learn, words: () => added.size }
}
