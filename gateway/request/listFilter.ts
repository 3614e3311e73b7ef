/** List filters that take several words, separated by commas: `?status=active,archived`. */
import { Effect } from "effect"
import { Unprocessable } from "./Refusal.ts"

const quoted = (words: ReadonlyArray<string>): string => `[${words.map((word) => `'${word}'`).join(", ")}]`

/**
 * Reads such a filter; undefined without one. `what` names it in the refusal, `shown` lists the words that the refusal suggests, and `meaningOf`
 * translates a client's word.
 */
export const listFilter =
  <Word extends string>(
    what: string,
    allowed: ReadonlyArray<Word>,
    {
      meaningOf = (word) => word,
      shown = allowed
    }: { readonly meaningOf?: (word: string) => string; readonly shown?: ReadonlyArray<string> } = {}
  ) =>
  (filter: string | undefined): Effect.Effect<ReadonlyArray<Word> | undefined, Unprocessable> => {
    if (filter === undefined) return Effect.succeed(undefined)
    const isAllowed = (word: string): word is Word => allowed.some((one) => one === word)
    const words = [...new Set(filter.split(",").map((word) => meaningOf(word.trim())))]
    const unknown = words.filter((word) => !isAllowed(word)).map((word) => (word === "" ? "<empty>" : word))
    return unknown.length === 0
      ? Effect.succeed(words.filter(isAllowed))
      : Effect.fail(new Unprocessable({ detail: `Invalid ${what} filter: ${quoted(unknown)}. Allowed values: ${quoted(shown)}.` }))
  }
