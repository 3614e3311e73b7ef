/** Grammars as PocketSphinx takes them: JSGF, of words that its dictionary has. https://www.w3.org/TR/jsgf/ */

/** A JSGF grammar whose only public rule is `utterance`; other rules may be used by it. Words are in lower case. */
export type Jsgf = string

const header = "#JSGF V1.0;"
/** The grammar's name, names of rules, weights and tags are no words. */
const noWord = /<[^<>]*>|\/[^/]*\/|\{[^{}]*\}|\bgrammar\s+[\w.]+|\bpublic\b/g
const word = /[a-z][a-z']*/g

/** A grammar of whole sentences; undefined when there are none. Anything but letters separates words. */
export const grammarOf = (sentences: ReadonlyArray<string>): Jsgf | undefined => {
  const alternatives = [...new Set(sentences.map((sentence) => (sentence.toLowerCase().match(/[a-z']+/g) ?? []).join(" ")))].filter(
    (text) => text !== ""
  )
  return alternatives.length === 0 ? undefined : `${header} grammar node; public <utterance> = ${alternatives.join(" | ")} ;`
}

/** The words that somebody may say, once each. */
export const wordsOf = (grammar: Jsgf): ReadonlyArray<string> => {
  const rules = grammar.startsWith(header) ? grammar.slice(header.length) : grammar
  return [...new Set(rules.replaceAll(noWord, " ").match(word) ?? [])]
}
