/** What the agent has just asked, which decides what a plain yes or no means: it answers that question, and no other. */
import type { ModelMessage } from "#core/model/LanguageModel.ts"
import type { AuthoredNode } from "./EmbeddedDialogue.ts"
import { sayOf } from "./lines.ts"

type Line = Extract<ModelMessage, { _tag: "Assistant" }>

/** Asks whether anybody is there; the answer says nothing about the subject of the conversation. */
const presence = /\b(?:are you (?:still )?(?:there|with me|on the line)|can you (?:still )?hear me)\b[^.!?]{0,300}\?\s*$/i
/** Asks who is on the phone. */
const identity =
  /(?:\b[Aa]m I (?:speaking|talking) (?:with|to)\b|\b(?:[Mm]ay|[Cc]an|[Cc]ould) I (?:speak|talk) (?:with|to)\b|\b[Ii]s (?:this|that) (?:Mr|Mrs|Ms|Dr)?\.? ?\p{Lu})[^.!?]{0,300}\?\s*$/u

const begins =
  /^(?:am|is|are|was|were|do|does|did|have|has|had|would|could|should|can|will|shall|may|what|when|where|which|who|whose|why|how|on which|at what|at which)\b/i
const leastWords = 3

export const isPresence = (text: string): boolean => presence.test(text)
const isIdentity = (text: string): boolean => identity.test(text)

/** A line that was cut off has asked something if the callee heard the question begin. */
export const hasAsked = ({ text, wasInterrupted }: Line): boolean => {
  if (!wasInterrupted || text.includes("?")) return true
  const last = text.split(/[.!?]\s+/).at(-1) ?? ""
  return begins.test(last) && last.split(/\s+/).length >= leastWords
}

/**
 * What a plain yes or no to the agent's last line means. `answer`: it answers the node's question. `present`: somebody is there, or did not hear
 * the line, so it must be repeated. `reached`: it only says who is on the phone, and the node's own question is still to come.
 */
export const answered = (node: AuthoredNode, line: Line | undefined): "answer" | "present" | "reached" => {
  if (line === undefined) return "answer"
  if (isPresence(line.text) || !hasAsked(line)) return "present"
  return isIdentity(line.text) && !isIdentity(sayOf(node)) ? "reached" : "answer"
}
