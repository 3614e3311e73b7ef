/** What the embedded model says: the node's own words if it has any, and otherwise words made from its prompt and edges. */
import type { ModelNode } from "#core/model/LanguageModel.ts"
import type { AuthoredNode } from "./EmbeddedDialogue.ts"
import { quotedIn } from "./words.ts"

export const farewell = "Thank you for your time. Goodbye."
export const checkIn = "Are you still there?"
export const introduction = "Hello, this is an automated assistant calling for the person at this number. Could you put me through?"
export const cannotConnect = "I am an automated assistant, and I cannot connect you."
export const optedOut = "I understand. You will not be called again. Goodbye."

const isThatRight = ". Is that right?"
const toConfirm = "Just to confirm: "
const heard = "I heard "
export const apology = "Sorry, I did not get that."

export const isConfirmation = (line: string): boolean => line.startsWith(toConfirm) || line.startsWith(heard)

type Edge = ModelNode["edges"][number]
/** All marks at the end of a text. */
const lastMarks = /(?<![.!?])[.!?]+$/
const confirming = ({ label }: Edge): string => toConfirm + label.trim().replace(lastMarks, "")
const withNumbers = ", and I heard "
/** Reads a number digit by digit, because fifteen sounds like fifty. */
const oneByOne = (number: string): string => (/^\d+$/.test(number) ? [...number].join(", ") : number)

/** `numbers`: those that were heard in the same answer. */
export const confirmationOf = (edge: Edge, numbers: ReadonlyArray<string> = []): string =>
  confirming(edge) + (numbers.length === 0 ? "" : withNumbers + numbers.map(oneByOne).join(" and ")) + isThatRight
export const confirms = (edge: Edge, line: string): boolean =>
  line.startsWith(confirmationOf(edge)) || line.startsWith(confirming(edge) + withNumbers)
export const readBack = (digits: string): string => heard + oneByOne(digits) + isThatRight

/** `1, 2, 3` as `123`; undefined if the line reads nothing back. */
export const digitsReadBack = (line: string): string | undefined => {
  const [, digits] = /^I heard ([\d, ]+)/.exec(line) ?? []
  return digits?.replaceAll(/\D/g, "")
}

/** `first, press 1`, for each edge that has a key. */
export const options = (edges: ReadonlyArray<readonly [Edge, string]>): string =>
  edges.map(([{ label }, key]) => `For ${label.trim().replace(lastMarks, "").toLowerCase()}, press ${key}.`).join(" ")

/** An instruction about the callee, as it is said to them. */
const addressed = (text: string): string =>
  text
    .replaceAll(/\b(?:the (?:caller|callee|customer|user|person|patient|contact|lead)|they)\b/gi, "you")
    .replaceAll(/\byou (?:is|was)\b/gi, "you are")
    .replaceAll(
      /\byou (?:wants|has|needs)\b/gi,
      (words) => ({ wants: "you want", has: "you have", needs: "you need" })[words.split(" ")[1]?.toLowerCase() ?? ""] ?? words
    )
    .replaceAll(/\b(?:their|his|her)\b/gi, "your")
    .replaceAll(/\bthem\b/gi, "you")

const callee = "(?:(?:the )?(?:caller|callee|customer|user|person|patient|contact|lead)|them|him|her)"
const rewrites: ReadonlyArray<readonly [RegExp, (rest: string) => string]> = [
  [new RegExp(`^ask (?:${callee} )?(?:about|for) (.+)$`, "i"), (rest) => `Could you tell me about ${rest}?`],
  [new RegExp(`^ask (?:${callee} )?to (.+)$`, "i"), (rest) => `Could you ${rest}?`],
  [
    new RegExp(`^ask (?:${callee} )?((?:if|whether|how|what|when|which|who|why|where) .+)$`, "i"),
    (rest) => `Could you tell me ${rest.replace(/^if /i, "whether ")}?`
  ],
  [/^(?:confirm|verify|check) (?:with \w+(?: \w+)? )?(.+)$/i, (rest) => `Could you confirm ${rest}?`],
  [/^(?:get|collect|find out|obtain) (.+)$/i, (rest) => `Could you tell me ${rest}?`],
  [new RegExp(`^(?:tell|inform) ${callee} (?:that )?(.+)$`, "i"), (rest) => `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`]
]

const rewritten = (prompt: string): string | undefined => {
  for (const sentence of prompt.split(/(?<=[.!?])\s+|\n+/)) {
    const words = sentence.trim().replace(lastMarks, "")
    for (const [pattern, make] of rewrites) {
      const [, rest] = pattern.exec(words) ?? []
      if (rest !== undefined) return make(addressed(rest))
    }
  }
  return undefined
}

/** What the agent says first in the node. */
export const sayOf = (node: AuthoredNode): string => {
  const set = node.dialogue.sayAt(node.id)
  if (set !== undefined) return set
  // What follows "Say:" is meant to be said; other quotations may be examples.
  const [, afterSay] = /\bsay:?\s*(["“][\s\S]*)/i.exec(node.prompt) ?? []
  const quoted = quotedIn(afterSay ?? node.prompt)
  if (quoted.length > 0) return quoted.join(" ")
  if (node.type === "endCall") return farewell
  return rewritten(node.prompt) ?? `Let me check one thing: ${node.name}.`
}
