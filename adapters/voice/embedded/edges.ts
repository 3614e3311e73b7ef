/** Chooses the edge for an answer. */
import type { ModelNode } from "#core/model/LanguageModel.ts"
import { notUnderstood } from "#core/model/SpeechToText.ts"
import type { AuthoredNode } from "./EmbeddedDialogue.ts"
import { anyAnswer, fillers, irreversible, questions, triggers } from "./lexicon.ts"
import type { Meaning } from "./phrases.ts"
import { kindOf, valueIn, valuePlaces } from "./Slots.ts"
import { meaningsOf } from "./Understanding.ts"
import { placeOf, quotedIn, stemOf, stemsOf, wordsOf } from "./words.ts"

type Edge = ModelNode["edges"][number]

const aboutOf = ({ condition, label }: Edge): string => `${wordsOf(label.replaceAll("_", " ")).join(" ")} | ${wordsOf(condition).join(" ")}`

/** The meaning of answers that take the edge; undefined if the lexicon does not know it. */
export const meaningOf = (edge: Edge): Meaning | undefined => triggers.find(([, pattern]) => pattern.test(aboutOf(edge)))?.[0]

/** The author's examples of what callees say. */
export const phrasesOf = ({ condition, label, phrases }: Edge): ReadonlyArray<string> =>
  phrases.length > 0 ? phrases : [label, condition].flatMap(quotedIn)

/** The key of each edge: the one that its author has set, or else its position. */
export const keysOf = (node: AuthoredNode): ReadonlyArray<readonly [Edge, string]> => {
  const set = new Map(
    node.edges.flatMap((edge) => {
      const key = node.dialogue.edge(edge.id).dtmf
      return key === undefined ? [] : [[edge, key] as const]
    })
  )
  const taken = new Set(set.values())
  return node.edges.flatMap((edge, index) => {
    const key = set.get(edge) ?? String(index + 1)
    return set.has(edge) || (key.length === 1 && !taken.has(key)) ? [[edge, key] as const] : []
  })
}

export const isIrreversible = (node: AuthoredNode, edge: Edge): boolean =>
  node.dialogue.edge(edge.id).confirm ?? irreversible.test(aboutOf(edge))

const ofKey = (node: AuthoredNode, key: string): Edge | undefined => {
  const found = keysOf(node).find(([, one]) => one === key)?.[0]
  return found ?? (key === "0" ? node.edges.find((edge) => meaningOf(edge) === "human") : undefined)
}

/** The share of the sentence that is covered by the phrase that covers most of it. */
const shareOf = (words: ReadonlyArray<string>, phrases: ReadonlyArray<string>): number => {
  const stems = words.map(stemOf)
  const content = words.filter((word) => !fillers.has(word)).length
  const shares = phrases.map((phrase) => {
    const wanted = stemsOf(phrase)
    if (wanted.length === 0 || placeOf(stems, wanted) < 0) return 0
    const own = wordsOf(phrase).filter((word) => !fillers.has(word)).length
    return content === 0 ? 1 : own / content
  })
  return Math.max(0, ...shares)
}

const only = (edges: ReadonlyArray<Edge>): Edge | undefined => (edges.length === 1 ? edges[0] : undefined)

/** A no answers "Are you interested?" along the edge "not interested", if the node has no other edge for it. */
const impliedByNo: ReadonlyArray<Meaning> = ["not_interested", "wrong_person", "callback", "goodbye"]

/** Without another edge for it, a no takes the edge about what is impossible: `does that suit you`, `no`, `they cannot come then`. */
const ofRefusal = (node: ModelNode): Edge | undefined => {
  const implied = impliedByNo.flatMap((meaning) => node.edges.filter((edge) => meaningOf(edge) === meaning))
  return only(implied.length > 0 ? implied : node.edges.filter((edge) => meaningOf(edge) !== undefined && refusing.test(aboutOf(edge))))
}
const refusing = /\b(?:cannot|cant|unable|not able|does not suit|doesnt suit)\b/

const ofMeaning = (node: ModelNode, heard: ReadonlySet<Meaning>): Edge | undefined => {
  const edgesOf = (meaning: Meaning) => node.edges.filter((edge) => meaningOf(edge) === meaning)
  const special = [...heard].filter((meaning) => meaning !== "affirm" && meaning !== "deny")
  const direct = node.edges.filter((edge) => special.some((meaning) => meaning === meaningOf(edge)))
  if (direct.length > 0) return only(direct)
  const isNo = heard.has("deny") || heard.has("not_interested")
  const denying = edgesOf("deny")
  if (isNo) return denying.length > 0 ? only(denying) : ofRefusal(node)
  // "I am busy" is a no to "Do you have a minute?"
  const declining = denying.length > 0 ? denying : edgesOf("not_interested")
  if (heard.has("callback") && special.length === 1 && !heard.has("affirm")) return only(declining)
  // "OK, bye" is not a yes.
  return heard.has("affirm") && special.length === 0 ? only(edgesOf("affirm")) : undefined
}

const isPlain = (edge: Edge): boolean => {
  const meaning = meaningOf(edge)
  return meaning === undefined || meaning === "affirm"
}

/** The edge for an answer with the requested data: the only edge that is not for a special answer. */
const dataEdge = (node: ModelNode, text: string): Edge | undefined => {
  const told = node.variables.filter((variable) => variable.type !== "boolean" && valueIn(variable, text) !== undefined)
  if (told.length === 0) return undefined
  const taking = only(node.edges.filter((edge) => isPlain(edge) && anyAnswer.test(aboutOf(edge))))
  // Any sentence is a text, so that alone proves nothing.
  return taking ?? (told.every((variable) => kindOf(variable) === "text") ? undefined : only(node.edges.filter(isPlain)))
}

const hasValue = (node: ModelNode, text: string): boolean =>
  node.variables.some((variable) => !["boolean", "text", "name"].includes(kindOf(variable)) && valueIn(variable, text) !== undefined)

/** A node that accepts any answer uses its only edge. */
const onlyEdge = (node: ModelNode, words: ReadonlyArray<string>, heard: ReadonlySet<Meaning>): Edge | undefined => {
  const edge = only(node.edges)
  const isSpecific = node.variables.some(({ type }) => type !== "boolean")
  if (edge === undefined || isSpecific || meaningOf(edge) !== undefined || phrasesOf(edge).length > 0) return undefined
  const isOther = globals.some((meaning) => heard.has(meaning)) || questions.test(words.join(" "))
  return isOther ? undefined : edge
}
const globals: ReadonlyArray<Meaning> = ["repeat", "human", "unsure", "opt_out", "goodbye"]

const ofWords = (node: ModelNode, text: string): Edge | undefined => {
  const words = wordsOf(text).slice(0, 60)
  const shares = node.edges.map((edge) => ({ edge, share: shareOf(words, phrasesOf(edge)) })).filter(({ share }) => share >= 0.5)
  const best = Math.max(0, ...shares.map(({ share }) => share))
  if (best > 0) return only(shares.filter(({ share }) => share === best).map(({ edge }) => edge))
  const heard = meaningsOf(words, valuePlaces(words))
  const isPlainAnswer = [...heard].every((meaning) => meaning === "affirm" || meaning === "deny")
  // "No, eight" corrects the number.
  const corrected = isPlainAnswer && hasValue(node, text) ? dataEdge(node, text) : undefined
  return corrected ?? ofMeaning(node, heard) ?? dataEdge(node, text) ?? onlyEdge(node, words, heard)
}

/** Undefined: the answer is not understood, or could mean two edges. */
export const edgeFor = (node: AuthoredNode, text: string, isKeyed: boolean): Edge | undefined => {
  if (text === notUnderstood) return undefined
  if (!isKeyed) return ofWords(node, text)
  const collects = node.variables.some((variable) => ["digits", "number"].includes(kindOf(variable)))
  return collects ? dataEdge(node, text) : ofKey(node, text)
}
