/**
 * What an English sentence from the far end reveals by itself, whatever the model makes of it: that the callee must not be called again, or that
 * it is not a person. Only unmistakable wordings count: an opt-out is final, and "call me after six" is not one.
 */

/** Words in lower case, with one space between them; `don't` is `dont`. */
const plain = (text: string): string =>
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

const screenings = [
  /\b(?:state|say|record|tell me|give) your name and (?:the |your )?(?:reason|purpose|why)/,
  /\b(?:say|state|tell me|know) (?:who (?:you are|is calling|youre) and )?why (?:you are|youre) calling\b/,
  /\b(?:screening (?:service|assistant)|screening (?:this|the|your) call|call screening)\b/,
  /\bsee if (?:this|the) person is available\b/,
  /\b(?:stay on the line|thank you please (?:hold|wait))\b/
]
const machines = [
  /\b(?:after|at|wait for) the (?:tone|beep)\b/,
  /\byouve reached the (?:voice ?mail|mailbox|answering machine)\b/,
  /\b(?:person|party|customer|subscriber) you (?:are|were)? ?(?:calling|trying to reach|dialed|have dialed)\b.* (?:not available|unavailable|cannot|busy)/,
  /\b(?:forwarded|transferred) to (?:an automated )?(?:voice|answering|voice messaging)/,
  /\bmailbox (?:is full|has not been set up)\b/,
  /\bleave (?:a|your|me a|us a) (?:brief |short |detailed )?(?:message|name and number)\b/
]
const menus = [/\bpress (?:\d|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\b/]

type FarEnd = "screening" | "machine" | "menu"

/** Undefined: this could be a person. */
export const farEndOf = (text: string): FarEnd | undefined => {
  const words = plain(text)
  const says = (patterns: ReadonlyArray<RegExp>) => patterns.some((pattern) => pattern.test(words))
  if (says(screenings)) return "screening"
  if (says(machines)) return "machine"
  return says(menus) ? "menu" : undefined
}
