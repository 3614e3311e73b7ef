/** Grammars in the form that PocketSphinx takes: JSGF, with words of its dictionary. https://www.w3.org/TR/jsgf/ */

/** A JSGF grammar whose only public rule is `utterance`; other rules may be used by it. Words are in lower case. */
export type Jsgf = string

const header = "#JSGF V1.0;"
/** Matches what is not a word: the grammar's name, names of rules, weights and tags. */
const noWord = /<[^<>]*>|\/[^/]*\/|\{[^{}]*\}|\bgrammar\s+[\w.]+|\bpublic\b/g
const word = /[a-z][a-z']*/g

/** A grammar of whole sentences; undefined if there are none. Anything but letters separates words. */
export const grammarOf = (sentences: ReadonlyArray<string>): Jsgf | undefined => {
  const alternatives = [...new Set(sentences.map((sentence) => (sentence.toLowerCase().match(/[a-z']+/g) ?? []).join(" ")))].filter(
    (text) => text !== ""
  )
  return alternatives.length === 0 ? undefined : `${header} grammar node; public <utterance> = ${alternatives.join(" | ")} ;`
}

/** The words of the grammar, once each. */
export const wordsOf = (grammar: Jsgf): ReadonlyArray<string> => {
  const rules = grammar.startsWith(header) ? grammar.slice(header.length) : grammar
  return [...new Set(rules.replaceAll(noWord, " ").match(word) ?? [])]
}
