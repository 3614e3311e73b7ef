/**
 * Whether an English sentence says by itself that its speaker must not be called again, whatever the model makes of it. Only unmistakable wordings
 * count: an opt-out is final, and "call me after six" is not one.
 */

/** Words in lower case, with one space between them; `don't` is `dont`. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()

const calling = "(?:call|calling|phone|phoning|ring|ringing|contact|contacting|bother|bothering)"
const us = "(?:me|us|here|this number|my number|this house)"
/** What may follow "stop calling me" and "do not call me": nothing that sets a time, or turns it into a name. */
const finalWords = "(?= ?$| (?:please|again|any ?more|ever|ok|okay|or|and|im|its|thank|thanks|goodbye|bye)\\b)"
const list = "(?:\\w+ ){0,3}(?:list|lists|database|records)"
const optOuts = [
  `\\bstop (?:${calling} ${us}|${calling})${finalWords}`,
  `\\b(?:do not|dont|never|not to) (?:you )?(?:ever |dare )?${calling} ${us} (?:again|any ?more|ever)\\b`,
  `\\b(?:do not|dont|never) (?:ever )?${calling} ${us}${finalWords}`,
  `\\b(?:take|remove|delete|strike|get) (?:me|us|my number|my name|this number) (?:off|from|out of) (?:of )?(?:your|the|this|that|any) ${list}\\b`,
  "\\b(?:put|add|place) (?:me|us|my number|this number) (?:on|to) (?:your |the |a )?(?:do not|dont|no) call\\b",
  "\\b(?:unsubscribe me|opt me out|(?:want|like) to opt out)\\b"
].map((pattern) => new RegExp(pattern))
/** "Do not call me again before six" sets a time. */
const setsTime =
  /\b(?:before|after|until|till|between|during|while|unless|tomorrow|tonight|today|this (?:morning|afternoon|evening|week))\b/

export const isOptOut = (text: string): boolean => {
  const words = plain(text)
  return !setsTime.test(words) && optOuts.some((pattern) => pattern.test(words))
}
