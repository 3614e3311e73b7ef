/**
 * What is expected of a callee, as a graph of words: from a JSGF grammar, or from single phrases. Grammars may use rules within themselves, but only at the
 * end of a sequence. https://www.w3.org/TR/jsgf/
 */
import { soundsOf } from "./Sounds.ts"

interface Step {
  readonly to: number
  /** Empty: the step is free. */
  readonly word: string
  readonly sounds: string
}

export interface Expected {
  /** The steps from each state. Sentences lead from state 0 to state 1. */
  readonly steps: ReadonlyArray<ReadonlyArray<Step>>
}

const start = 0
const end = 1

const makeGraph = () => {
  const steps: Array<Array<Step>> = [[], []]
  return {
    steps,
    state: (): number => steps.push([]) - 1,
    join: (from: number, to: number, word = ""): void => void steps[from]?.push({ to, word, sounds: word === "" ? "" : soundsOf(word) })
  }
}
type Graph = ReturnType<typeof makeGraph>

/** A part of a rule. */
type Part =
  | { readonly _tag: "Word"; readonly word: string }
  | { readonly _tag: "Rule"; readonly name: string }
  | { readonly _tag: "Sequence"; readonly parts: ReadonlyArray<Part> }
  | { readonly _tag: "Choice"; readonly parts: ReadonlyArray<Part>; readonly isOptional: boolean }

/** Weights are left out. */
const tokensOf = (text: string): Array<string> => text.replaceAll(/\/[\d.]+\//g, " ").match(/<\w+>|[()[\]|]|[\p{L}\p{N}'’-]+/gu) ?? []

/** Reads alternatives up to a closing bracket or the end. */
const choiceOf = (tokens: Array<string>, isOptional: boolean): Part => {
  const parts: Array<Part> = []
  let sequence: Array<Part> = []
  const close = () => {
    if (sequence.length > 0) parts.push({ _tag: "Sequence", parts: sequence })
    sequence = []
  }
  for (let token = tokens.shift(); token !== undefined && token !== ")" && token !== "]"; token = tokens.shift()) {
    if (token === "|") close()
    else if (token === "(" || token === "[") sequence.push(choiceOf(tokens, token === "["))
    else if (token.startsWith("<")) sequence.push({ _tag: "Rule", name: token })
    else sequence.push({ _tag: "Word", word: token })
  }
  close()
  return { _tag: "Choice", parts, isOptional }
}

const rulesOf = (grammar: string): { readonly rules: ReadonlyMap<string, Part>; readonly first: string | undefined } => {
  const rules = new Map<string, Part>()
  let first: string | undefined
  for (const [, open, name = "", body = ""] of grammar.matchAll(/(public\s+)?(<\w+>)\s*=([^;]*);/g)) {
    rules.set(name, choiceOf(tokensOf(body), false))
    if (open !== undefined) first ??= name
  }
  return { rules, first }
}

/** Undefined if it cannot be read. */
const graphOf = (grammar: string): Expected | undefined => {
  const { first, rules } = rulesOf(grammar)
  if (first === undefined) return undefined
  const graph = makeGraph()
  /** `within`: the rules that this is part of, with the state in which each begins. */
  const add = (part: Part, from: number, to: number, within: ReadonlyMap<string, number>): void => {
    switch (part._tag) {
      case "Word":
        return graph.join(from, to, part.word)
      case "Rule": {
        const again = within.get(part.name)
        // At the end of a sequence, so that its end is the rule's own.
        if (again !== undefined) return graph.join(from, again)
        const rule = rules.get(part.name)
        return rule === undefined ? undefined : add(rule, from, to, new Map([...within, [part.name, from]]))
      }
      case "Sequence": {
        let at = from
        for (const [index, one] of part.parts.entries()) {
          const next = index === part.parts.length - 1 ? to : graph.state()
          add(one, at, next, within)
          at = next
        }
        return
      }
      case "Choice": {
        // Of its own, so that a rule that begins here again does not begin what stands beside it.
        const own = graph.state()
        graph.join(from, own)
        if (part.isOptional) graph.join(from, to)
        for (const one of part.parts) add(one, own, to, within)
      }
    }
  }
  add({ _tag: "Rule", name: first }, start, end, new Map())
  return { steps: graph.steps }
}

const addPhrase = (graph: Graph, phrase: string): void => {
  const words = tokensOf(phrase)
  let at = start
  for (const [index, word] of words.entries()) {
    const next = index === words.length - 1 ? end : graph.state()
    graph.join(at, next, word)
    at = next
  }
}

/** Undefined if anything may be said. A grammar is used instead of the phrases. */
export const expectedOf = (phrases: ReadonlyArray<string>, grammar: string | undefined): Expected | undefined => {
  if (grammar !== undefined) return graphOf(grammar)
  if (phrases.length === 0) return undefined
  const graph = makeGraph()
  for (const phrase of phrases) addPhrase(graph, phrase)
  return { steps: graph.steps }
}
